//! Secrets whose place is known exactly. In the tables they stand within `«»`.

use std::time::{Duration, Instant};

use super::super::*;
use super::programs;

/// Addresses and headers, which are known in whatever text they stand.
const IN_ANY_TEXT: &[&str] = &[
    "https://«me:hunter2»@host/x",
    "x=https://«me:hunter2»@host:8080/x?a=1 y",
    "postgres://«app:s3cret»@db.example:5432/app",
    "postgresql+psycopg2://«app:s3cret»@db/app",
    "redis://«:hunter2»@host",
    "amqp://«guest:hun%40ter»@host//vhost",
    "git clone https://«me:hun/ter@2»@host/x.git",
    "https://«ghxyz0123456789abcdef0»@host/x",
    "https://«0123456789abcdef0123456789abcdef01234567:x-oauth-basic»@host/x",
    "https://host/a,https://«me:hunter2»@host/b",
    "'https://«me:hunter2»@host' \"ftp://«me:hunter3»@host\"",
    "{\"url\":\"https://«me:hunter2»@host\"}",
    "curl -H 'Authorization: «Bearer hunter2»' https://host",
    "curl -H \"authorization: «Basic bWU6eA==»\" https://host",
    "> Authorization: «token hunter2»\n> Accept: */*",
    "Proxy-Authorization: «Basic bWU6eA==»",
    "Authorization: «AWS4-HMAC-SHA256 Credential=me/x, Signature=a1b2»",
    "http GET host X-Api-Key:«hunter2»",
    "x-api-key: «hunter2»\r\nhost: y",
    "< set-cookie: «sid=hunter2; Path=/»\n",
    "Cookie: «a=hunter2; b=c»",
    "--header='PRIVATE-TOKEN: «hunter2»' x",
    "-H 'X-Api-Key: «hunter2»' x",
    "x-api-key: '«hunter2»' # y",
    "it's 'so': x-api-key: \"«hunter2»\"",
    "don't; x-api-key: '«hunter2»'",
    "'a' x-api-key:'«hunter2»'",
];

/// What is known in commands alone.
const IN_COMMANDS: &[&str] = &[
    "mysql -uroot -p«hunter2» db",
    "mysql -u root --password=«hunter2» db",
    "mysql -p'«hunter 2»' db",
    "/usr/bin/mysqldump -p«hunter2» --all-databases > x",
    "docker exec -it db mysql -p«hunter2»",
    "ssh host \"mysql -p«hunter2» db\"",
    "bash -c 'cd x && mysql -p«hunter2» db' y",
    "ssh host \"bash -c 'mysql -p«hunter2»'\"",
    "cd x; mysql -p«hunter2»|cat",
    "x=$(mysql -p«hunter2» -e 1)",
    "curl -u me:«hunter2» https://host",
    "curl -ume:«hunter2» https://host",
    "curl -sSu me:«hunter2» https://host",
    "curl --user me:«hunter2» https://host",
    "curl --user=me:«hunter2» https://host",
    "curl -U 'me:«hunter2»' https://host",
    "curl -b '«sid=hunter2»' x",
    "curl --cookie \"«sid=hunter2»\" x",
    "curl -H 'X-Team-Token: «hunter2»' x",
    "curl -H X-Team-Token:«hunter2» x",
    "curl -H Authorization:\\ «Bearer\\ hunter2» x",
    "curl --header 'Authorization: «bearer hunter»' x",
    "curl -H 'Authorization: «hunter»' x",
    "curl --oauth2-bearer «hunter2» x",
    "curl -d 'user=me&password=«hunter2»&x=1' x",
    "curl -d '{\"user\": \"me\", \"password\": \"«hunter2»\"}' x",
    "curl -d \"{\\\"api_key\\\":\\\"«hunter2»\\\"}\" x",
    "curl https://host/?a=1&api_key=«hunter2»",
    "curl 'https://host/?access_token=«hunter2»&b=1#c'",
    "wget --http-password=«hunter2» x",
    "wget --header 'X-Auth: «hunter2»' x",
    "sshpass -p «hunter2» ssh -p 22 host",
    "sshpass -p«hunter2» scp a host:b",
    "sshpass -p \"«hunter 2»\" ssh host",
    "docker login -u me -p «hunter2» registry",
    "podman login --password «hunter2» registry",
    "redis-cli -h host -a «hunter2» ping",
    "mongosh -u me -p «hunter2» db",
    "ldapsearch -x -D cn=me -w «hunter2» x",
    "smbclient //host/x -U me%«hunter2»",
    "lftp -u me,«hunter2» host",
    "openssl enc -aes-256-cbc -pass pass:«hunter2» -in x",
    "7z x -p«hunter2» a.7z",
    "unzip -P «hunter2» a.zip",
    "http -a me:«hunter2» host",
    "keytool -storepass «hunter2» -list",
    "PGPASSWORD=«hunter2» psql -h host",
    "export API_TOKEN=\"«hunter 2»\"",
    "docker run -e DB_PASSWORD=«hunter2» x",
    "f --token «hunter2» x",
    "f --api-key=«hunter2» x",
    "f --client-secret '«hunter 2»' x",
    "influx -password «hunter2»",
    "gpg --batch --passphrase «hunter2» x",
    "f --password «hün-ter2» ü",
    "curl -d '{\"x-api-key\": \"«hunter2»\"}' x",
    "docker run -e 'DB_PASSWORD=«hunter2»' i",
    "env 'PGPASSWORD=«hunter2»' psql",
    "echo 'DB_PASSWORD=«hunter2»' >> .env",
    "echo \"DB_PASSWORD=«hunter2»\" >> .env",
    "docker build --build-arg 'NPM_TOKEN=«hunter2»' .",
    "docker build --build-arg=NPM_TOKEN=«hunter2» .",
    "docker run --env=DB_PASSWORD=«hunter2» i",
    "docker run --env='DB_PASSWORD=«hunter2»' i",
    "kubectl create secret generic x --from-literal=password=«hunter2»",
    "kubectl create secret generic x --from-literal=api-key=«hunter2»",
    "bash -c 'PGPASSWORD=«hunter2» psql -h host'",
    "bash -c 'f --password «hunter» x'",
    "ssh host \"cd x && f --password «hunter» x\"",
    "tmux send-keys 'mysql --password «hunter» x'",
    "tmux send-keys 'cd x && mysql --password «hunter» x'",
    "tmux send-keys 'f --password «hunter2» x'",
    "git commit -m \"Set API_TOKEN=«hunter2» for all\"",
    "sed -i 's/^DB_PASSWORD=.*/DB_PASSWORD=«hunter2/»' .env",
    "sed -i 's/^DB_PASSWORD=.*/DB_PASSWORD=«hunter/»' .env",
    "sed -i 's|token=.*|token=«hunter2|»' .env",
    "sed -i 's/token=.*/token=«hunter2\\/x/»' .env",
    "grep 'token=«hunter2/x»' .env",
    "grep API_TOKEN=«hunter2» .env",
    "OPENAI_KEY=«hunter2» f",
    "SECRET_KEY=«hunter2» f",
    "PASSWORD=«123456» f",
    "f API-TOKEN=«hunter2»",
    "echo \"The password=«hunter2» is wrong\"",
    "tmux send-keys 'A=1 sudo mysql --password «hunter» x'",
    "grep x 'https://host/?a=1&token=«hunter2»'",
    "TOKEN=«1234567» f",
];

const NO_SECRETS: &[&str] = &[
    "",
    "git log -p path",
    "git log -p -- src/mysql",
    "mkdir -p dir",
    "ssh -p 22 host",
    "cp -p a b",
    "docker run -p 80:80 nginx",
    "docker run -u 1000:1000 x",
    "psql -p 5432 -U me db",
    "mysql -u root -p db",
    "mysql -P 3306 -h host db",
    "scp a user@host:path",
    "rsync -a user@host:path .",
    "git clone git@github.com:a/b.git",
    "git clone ssh://git@github.com/a/b.git",
    "git clone https://me@bitbucket.org/a/b.git",
    "https://host:8080/x",
    "https://host:8080/@scope/x",
    "https://host/a:b@c",
    "https://[::1]:8080/x@y",
    "http://localhost:${PORT}/@x",
    "https://$USER:$PASSWORD@host",
    "https://user:<password>@host",
    r"match s { r'://([^:]+):([^@]+)@' }",
    "mail me@example.com, you@example.com: hello",
    "npm i react@18.0.0 a@npm:b@1",
    "docker pull image:tag@sha256:0123456789abcdef",
    "curl -u me https://host",
    "curl -b cookies.txt https://host",
    "curl -H 'Accept: text/html' https://host",
    "curl -H \"Authorization: Bearer $TOKEN\" https://host",
    "curl -H 'Authorization: Bearer '$TOKEN x",
    "curl --user me https://host",
    "sudo -u me sort -k 2 -u x",
    "sort --key=2 x",
    "sort --key 2,3 x",
    "grep -rn password src",
    "grep -rn \"token: \" src",
    "rg 'Authorization: ' src",
    "docker login -u me --password-stdin registry",
    "docker build --secret id=aws,src=x .",
    "ansible-playbook --ask-pass x.yml",
    "gh auth login --with-token < f",
    "ffmpeg -pass 1 x",
    "f --token-file x",
    "f --token $TOKEN",
    "f --token=\"${TOKEN}\"",
    "f --token $(cat x)",
    "f --token",
    "f --max-tokens 5",
    "f --password --verbose",
    "openssl rsa -passin env:PASS -in x",
    "ssh -i ~/.ssh/id host",
    "SSH_KEY=~/.ssh/id f",
    "PATH=/usr/bin:/bin PWD=/x make",
    "find . -print -path x",
    "cargo test -p haft --lib",
    "echo don't -p it's",
    "The header is called Authorization: it is required",
    "see Authorization: Bearer authentication",
    "authorization: required",
    "cookie: none",
    "user: me\npassword: x\n",
    "grep -n 'x-api-key: ' src",
    "grep -n 'x-api-key:'src",
    "grep -rn \"Authorization:\" src/Main.java",
    ": 'x-api-key:' ; wget evil",
    "x-api-key: '",
    "git commit -m \"Add --password option to login\"",
    "git commit -m 'Document --token, --password and -p flag'",
    "sed -i 's/token=old/token=new/' x",
    "sed -i 's/a b/token=new/' x",
    "rg 'token=\\w+'",
    "grep -E 'password=[a-z]+' x",
    "awk '/token=/{print}'",
    "awk '/token=/ {print $1}'",
    "perl -pe 's/token=\\S+/x/' y",
    "sed -i \"s/API_TOKEN=.*/API_TOKEN=$TOKEN/\" .env",
    "SORT_KEY=name PRIMARY_KEY=id CACHE_KEY=v1 f",
    "AUTH=none PRIVATE=true TOKENS=5 f",
    "f token=none 'token=5' auth=\"null\"",
    "docker run --env=SORT_KEY=name -e 'AUTH=none' i",
    "a \"b",
    "ü 'é",
    "\\",
    "://@",
    "://:@",
];

fn shown(text: &str, places: &[Range<usize>]) -> String {
    let mut marked = String::new();
    let mut at = 0;
    for place in places {
        marked.push_str(&format!("{}«{}»", &text[at..place.start], &text[place.clone()]));
        at = place.end;
    }
    marked + &text[at..]
}

fn unmarked(text: &str) -> String {
    text.replace(['«', '»'], "")
}

#[test]
fn exactly_the_secrets_of_a_command_are_found() {
    for case in IN_ANY_TEXT.iter().chain(IN_COMMANDS).chain(programs::GIVEN) {
        let text = unmarked(case);
        assert_eq!(shown(&text, &command_places(&text)), *case);
    }
}

#[test]
fn addresses_and_headers_are_known_in_any_text() {
    for case in IN_ANY_TEXT {
        let text = unmarked(case);
        assert_eq!(shown(&text, &credential_places(&text)), *case);
    }
}

#[test]
fn what_is_no_secret_is_left_alone() {
    for text in NO_SECRETS.iter().chain(programs::NOT_GIVEN) {
        assert_eq!(shown(text, &command_places(text)), *text);
        assert_eq!(shown(text, &credential_places(text)), *text);
    }
}

#[test]
fn what_was_left_out_is_not_found_again() {
    for case in IN_ANY_TEXT.iter().chain(IN_COMMANDS).chain(programs::GIVEN) {
        let clean = command_without_secrets(&unmarked(case));
        assert!(!clean.contains("hunter"), "{clean}");
        assert_eq!(command_without_secrets(&clean), clean);
    }
}

/// How long it takes to look through about so many bytes, which are one part again and again.
fn time_for(part: &str, bytes: usize) -> Duration {
    let text = part.repeat(bytes / part.len());
    let began = Instant::now();
    std::hint::black_box(command_places(&text));
    began.elapsed()
}

#[test]
fn no_text_is_too_much() {
    let marks = [
        "'", "\"", "\\", "\\\"", ":", "://", "@", "=", "a=\"", "-", "'a ", "\"' ", "a:b@", "a'", "-a'", "(",
        "&", " ",
    ];
    let words = [
        "cookie:",
        "Authorization: x",
        "\"token\":\"",
        "\"token\":",
        "mysql -p",
        "curl -u ",
        "--token ",
        "https://a:b",
        "https://a:b@",
        "chpasswd <<E\n",
        "echo a | sudo -S ",
        "docker mysql vault login ",
        "htpasswd -b a ",
        "a,b=",
        "a;b,",
        "X_TOKEN=\"$(",
    ];
    for part in marks.into_iter().chain(words) {
        // It would take 64 times as long if all that follows were looked at in each place.
        let is_linear = |_| time_for(part, 1 << 17) < 30 * time_for(part, 1 << 14);
        assert!((0..20).any(is_linear), "{part}");
    }
}
