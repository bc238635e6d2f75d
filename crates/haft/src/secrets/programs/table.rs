//! The programs whose words are known, by what they are for.

use super::Given::{
    AfterColon, AfterComma, AfterEquals, AfterPercent, AfterScheme, BesideShare, Cookie, Header, Logon,
    Nothing, Setting, Unnamed, Whole,
};
use super::Operands::{Each, LastWith, Named, Nth};
use super::Spelled::{Apart, Clustered, Either, Joined, Switch};
use super::{Credential, Given, Operands, Program};

pub(super) const PROGRAMS: &[Program] = &[
    // The shell's own, and what runs another command.
    of(&["declare", "echo", "env", "export", "local", "printf", "readonly", "typeset"])
        .operands(Each(Setting)),
    of(&["sshpass"]).launching().options(&[("-p", Either, Whole)]),
    of(&["sudo"]).launching().options(&[
        ("-S", Switch, Whole),
        ("--stdin", Switch, Whole),
        ("-g", Apart, Nothing),
        ("-p", Apart, Nothing),
        ("-u", Apart, Nothing),
    ]),
    // The web.
    of(&["curl", "curlie"]).options(&[
        ("-u", Either, AfterColon),
        ("-U", Either, AfterColon),
        ("--user", Apart, AfterColon),
        ("--proxy-user", Apart, AfterColon),
        ("-E", Either, AfterColon),
        ("--cert", Apart, AfterColon),
        ("--proxy-cert", Apart, AfterColon),
        ("-b", Either, Cookie),
        ("--cookie", Apart, Cookie),
        ("--pass", Apart, Whole),
        ("--proxy-pass", Apart, Whole),
        ("--oauth2-bearer", Apart, Whole),
        ("-H", Either, Header),
        ("--proxy-header", Apart, Header),
        ("-d", Apart, Setting),
        ("-F", Apart, Setting),
    ]),
    of(&["http", "https", "xh", "xhs"]).options(&[
        ("-a", Either, AfterColon),
        ("--auth", Apart, AfterColon),
        ("-A", Apart, AfterColon),
    ]),
    of(&["ab", "grpcurl", "gh", "glab", "hey", "oha", "websocat", "wrk", "wscat"])
        .options(&[("-H", Either, Header), ("--header", Apart, Header)]),
    of(&["ngrok"]).after(&["add-authtoken"]).operands(FIRST),
    of(&["ngrok"]).after(&["authtoken"]).operands(FIRST),
    of(&["tailscale"]).options(&[("--authkey", Apart, Whole)]),
    of(&["nmcli"]).operands(Named),
    of(&["wpa_passphrase"]).operands(SECOND),
    // Databases and queues.
    of(&[
        "mariadb",
        "mariadb-admin",
        "mariadb-check",
        "mariadb-dump",
        "mariadb-import",
        "mariadb-show",
        "mysql",
        "mysqladmin",
        "mysqlbinlog",
        "mysqlcheck",
        "mysqldump",
        "mysqlimport",
        "mysqlpump",
        "mysqlsh",
        "mysqlshow",
        "mysqlslap",
    ])
    .options(&[("-p", Joined, Whole)]),
    of(&["mariadb-admin", "mysqladmin"]).after(&["password"]).operands(FIRST),
    of(&["mongo", "mongodump", "mongoexport", "mongoimport", "mongorestore", "mongosh", "mongostat"])
        .options(&[("-p", Either, Whole)]),
    of(&["redis-cli", "valkey-cli"]).options(&[("-a", Either, Whole), ("--pass", Apart, Whole)]),
    of(&["redis-cli", "valkey-cli"]).after(&["auth"]).operands(Each(Whole)),
    of(&["redis-cli", "valkey-cli"]).after(&["config", "set"]).operands(Named),
    of(&["bcp", "isql", "osql", "sqlcmd", "tsql"]).options(&[("-P", Either, Whole)]),
    of(&["beeline", "cbq", "couchbase-cli", "cqlsh", "cypher-shell", "hdbsql"])
        .options(&[("-p", Apart, Whole)]),
    of(&["db2"]).after(&["using"]).operands(FIRST),
    of(&["influx"]).options(&[("-t", Apart, Whole)]),
    of(&["expdp", "impdp", "rman", "sqlldr", "sqlplus"]).operands(Each(Logon)),
    of(&["rabbitmqctl"]).after(&["add_user"]).operands(SECOND),
    of(&["rabbitmqctl"]).after(&["authenticate_user"]).operands(SECOND),
    of(&["rabbitmqctl"]).after(&["change_password"]).operands(SECOND),
    of(&["mosquitto_pub", "mosquitto_rr", "mosquitto_sub"]).options(&[("-P", Either, Whole)]),
    // People and what they log in to.
    of(&["chpasswd"]).reading(AfterColon),
    of(&["cryptsetup", "kinit", "passwd", "smbpasswd", "vncpasswd"]).reading(Whole),
    of(&["htpasswd"]).operands(LastWith("-b")).options(&[("-C", Either, Nothing), ("-r", Either, Nothing)]),
    of(&["useradd", "usermod"]).options(&[("-p", Clustered, Whole)]),
    of(&[
        "ldapadd",
        "ldapcompare",
        "ldapdelete",
        "ldapexop",
        "ldapmodify",
        "ldapmodrdn",
        "ldappasswd",
        "ldapsearch",
        "ldapwhoami",
        "vsql",
    ])
    .options(&[("-w", Either, Whole)]),
    of(&["net", "rpcclient", "smbclient", "smbget", "winexe"])
        .options(&[("-U", Either, AfterPercent), ("--user", Apart, AfterPercent)]),
    of(&["net"]).after(&["use"]).operands(Each(BesideShare)),
    of(&["net"]).after(&["user"]).operands(Nth(2, BesideShare)),
    of(&["lftp"]).options(&[("-u", Either, AfterComma), ("--user", Apart, AfterComma)]),
    of(&["ncftp", "ncftpget", "ncftpput"]).options(&[("-p", Either, Whole)]),
    of(&["racadm", "rdesktop", "veracrypt"]).options(&[("-p", Apart, Whole)]),
    of(&["ipmitool"]).options(&[("-P", Either, Whole)]),
    of(&["snmpbulkwalk", "snmpget", "snmpset", "snmpwalk"]).options(&[
        ("-A", Apart, Whole),
        ("-X", Apart, Whole),
        ("-c", Apart, Whole),
    ]),
    of(&["freerdp", "wlfreerdp", "xfreerdp", "xfreerdp3"]).options(&[("/p:", Joined, Whole)]),
    // Keys and archives.
    of(&["openssl"]).options(&[
        ("-pass", Apart, AfterScheme),
        ("-passin", Apart, AfterScheme),
        ("-passout", Apart, AfterScheme),
        ("-hmac", Apart, Whole),
        ("-k", Apart, Whole),
        ("-K", Apart, Whole),
        ("-in", Apart, Nothing),
        ("-salt", Apart, Nothing),
    ]),
    of(&["openssl"]).after(&["passwd"]).operands(FIRST),
    of(&["ssh-keygen"]).options(&[("-N", Either, Whole), ("-P", Either, Whole)]),
    of(&["7z", "7za", "7zr", "7zz", "rar", "unrar"])
        .options(&[("-p", Joined, Whole), ("-hp", Joined, Whole)]),
    of(&["unzip", "zip"]).options(&[("-P", Clustered, Whole)]),
    of(&["lsar", "unar"]).options(&[("-p", Apart, Whole)]),
    of(&["osslsigncode"]).options(&[("-pass", Apart, Whole)]),
    of(&["altool"]).options(&[("-p", Apart, Whole)]),
    of(&["pdfimages", "pdfinfo", "pdftoppm", "pdftotext"])
        .options(&[("-opw", Apart, Whole), ("-upw", Apart, Whole)]),
    of(&["pdftk"]).operands(Named),
    of(&["security"]).after(&["add-generic-password"]).options(&[("-w", Apart, Whole)]),
    of(&["security"]).after(&["add-internet-password"]).options(&[("-w", Apart, Whole)]),
    of(&["security"]).after(&["create-keychain"]).options(&[("-p", Apart, Whole)]),
    of(&["security"]).after(&["unlock-keychain"]).options(&[("-p", Apart, Whole)]),
    // What keeps secrets for others.
    of(&["bw"]).after(&["login"]).operands(SECOND),
    of(&["bw"]).after(&["unlock"]).operands(FIRST),
    of(&["doppler"]).options(&[("-t", Apart, Whole)]),
    of(&["doppler", "fly", "flyctl", "supabase"]).after(&["secrets", "set"]).operands(Each(AfterEquals)),
    of(&["fly", "flyctl"]).after(&["secrets", "import"]).reading(AfterEquals),
    of(&["gh"])
        .after(&["secret", "set"])
        .reading(Whole)
        .options(&[("-b", Either, Whole), ("--body", Apart, Whole)]),
    of(&["pass"]).after(&["insert"]).reading(Whole),
    of(&["vault"]).after(&["login"]).reading(Whole).operands(Nth(1, Unnamed)),
    of(&["vault"]).after(&["kv", "patch"]).operands(Each(AfterEquals)),
    of(&["vault"]).after(&["kv", "put"]).operands(Each(AfterEquals)),
    of(&["vercel"]).after(&["env", "add"]).reading(Whole),
    of(&["wrangler"]).after(&["secret", "put"]).reading(Whole),
    // Packages, and where they are published.
    of(&["cargo"])
        .after(&["login"])
        .options(&[("--registry", Apart, Nothing)])
        .reading(Whole)
        .operands(FIRST),
    of(&["composer", "poetry"]).after(&["config"]).operands(Named),
    of(&["composer", "poetry"]).after(&["config"]).operands(Nth(3, Whole)),
    of(&["npm", "pip", "pip3", "pnpm", "yarn"]).after(&["set"]).operands(Named),
    of(&["poetry", "uv"]).after(&["publish"]).options(&[("-p", Either, Whole)]),
    of(&["uv"]).after(&["publish"]).options(&[("-t", Either, Whole)]),
    of(&["pdm"]).after(&["publish"]).options(&[("-P", Either, Whole)]),
    of(&["hatch"]).after(&["publish"]).options(&[("-a", Either, Whole)]),
    of(&["twine"]).after(&["upload"]).options(&[("-p", Either, Whole)]),
    of(&["dotnet"]).after(&["nuget", "add"]).options(&[("-p", Apart, Whole)]),
    of(&["dotnet"]).after(&["nuget", "push"]).options(&[("-k", Apart, Whole)]),
    of(&["nuget"]).after(&["setapikey"]).operands(FIRST),
    of(&["ovsx", "vsce"]).after(&["publish"]).options(&[("-p", Either, Whole)]),
    of(&["anaconda", "codecov", "codecovcli"]).options(&[("-t", Apart, Whole)]),
    of(&["snyk"]).after(&["auth"]).operands(FIRST),
    of(&["wandb"]).after(&["login"]).operands(FIRST),
    // Forges and clouds.
    of(&["git"]).after(&["config"]).operands(Named),
    of(&["glab"]).after(&["auth", "login"]).reading(Whole).options(&[("-t", Either, Whole)]),
    of(&["glab"]).after(&["variable", "set"]).operands(Named),
    of(&["tea"]).after(&["login"]).options(&[("-t", Apart, Whole)]),
    of(&["aws"]).options(&[("--secret-string", Apart, Whole)]),
    of(&["aws"]).after(&["configure", "set"]).operands(Named),
    of(&["az"]).after(&["secret", "set"]).options(&[("--value", Apart, Whole)]),
    of(&["az", "buildah", "cf", "docker", "helm", "ibmcloud", "nerdctl", "oc", "podman", "skopeo"])
        .after(&["login"])
        .options(&[("-p", Either, Whole)]),
    of(&["docker", "nerdctl", "podman"]).options(&[("-e", Either, Setting)]),
    of(&["docker", "podman"]).after(&["secret", "create"]).reading(Whole),
    of(&["doctl"]).after(&["auth"]).options(&[("-t", Either, Whole)]),
    of(&["gcloud"]).after(&["activate-refresh-token"]).operands(SECOND),
    of(&["gcloud"]).after(&["secrets"]).reading(Whole),
    of(&["kubectl", "oc"]).after(&["create", "secret"]).options(&[("--from-literal", Apart, AfterEquals)]),
    of(&["mc"]).after(&["alias", "set"]).operands(Nth(4, Whole)),
    of(&["netlify"]).after(&["env:set"]).operands(Named),
    of(&["rclone"]).after(&["config"]).operands(Named),
    of(&["rclone"]).after(&["obscure"]).operands(FIRST),
    // What is told how to set things up.
    of(&["ansible", "ansible-playbook"]).options(&[("-e", Either, Setting)]),
    of(&["pulumi"]).after(&["config", "set"]).operands(LastWith("--secret")),
];

const FIRST: Operands = Nth(1, Whole);
const SECOND: Operands = Nth(2, Whole);

const fn of(names: &'static [&'static str]) -> Program {
    Program { names, after: &[], is_launcher: false, options: &[], operands: Operands::None, input: None }
}

impl Program {
    const fn after(self, words: &'static [&'static str]) -> Program {
        Program { after: words, ..self }
    }

    const fn launching(self) -> Program {
        Program { is_launcher: true, ..self }
    }

    const fn options(self, options: &'static [Credential]) -> Program {
        Program { options, ..self }
    }

    const fn operands(self, operands: Operands) -> Program {
        Program { operands, ..self }
    }

    const fn reading(self, secret: Given) -> Program {
        Program { input: Some(secret), ..self }
    }
}
