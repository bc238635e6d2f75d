//! Skills in real directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{FoundSkills, Owner, SkillPlace, Skills};

struct World(TempDir);

impl World {
    fn new() -> World {
        World(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn skill(&self, directory: &str, name: &str) -> PathBuf {
        self.file(
            &format!("{directory}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: d\n---\n{directory}\n"),
        )
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn place(&self, directory: &str, owner: Owner) -> SkillPlace {
        SkillPlace { directory: self.path(directory), owner }
    }

    fn project(&self, is_trusted: bool) -> Owner {
        Owner::Project { root: self.path("repo"), is_trusted }
    }
}

fn found(places: &[SkillPlace]) -> FoundSkills {
    Skills::new(places.to_vec()).find()
}

fn file_of<'a>(found: &'a FoundSkills, name: &str) -> &'a Path {
    &found.skills[name].file
}

#[test]
fn of_two_with_one_name_the_later_counts_and_somebody_is_told() {
    let world = World::new();
    world.skill("home/a", "same");
    let later = world.skill("repo/skills/b", "same");
    let places = [world.place("home", Owner::Person), world.place("repo/skills", world.project(true))];
    let found = found(&places);
    assert_eq!(file_of(&found, "same"), later);
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    assert!(found.warnings[0].contains("is there twice"), "{:?}", found.warnings);
}

#[test]
fn an_untrusted_project_adds_skills_and_replaces_none() {
    let world = World::new();
    let own = world.skill("home/a", "same");
    world.skill("repo/skills/b", "same");
    world.skill("repo/skills/c", "other");
    let places = [world.place("home", Owner::Person), world.place("repo/skills", world.project(false))];
    let found = found(&places);
    assert_eq!(file_of(&found, "same"), own);
    assert!(found.skills.contains_key("other"));
}

#[test]
fn what_cannot_be_read_is_left_out_and_hides_nothing() {
    let world = World::new();
    world.skill("repo/s/good", "good");
    world.file("repo/s/bad/SKILL.md", "---\nname: [unclosed\n---\nx\n");
    world.file("repo/s/none/SKILL.md", "# No front matter\n");
    world.file("repo/s/number/SKILL.md", "---\nname: 42\n---\n");
    world.file("repo/s/markup/SKILL.md", "---\nname: 'a\"><b'\n---\n");
    world.file("repo/s/large/SKILL.md", &format!("---\nname: large\n---\n{}", "x".repeat(300 << 10)));
    fs::create_dir_all(world.path("repo/s/directory/SKILL.md")).unwrap();
    let found = found(&[world.place("repo/s", world.project(true))]);
    assert_eq!(found.skills.keys().collect::<Vec<_>>(), ["good"]);
    assert_eq!(found.warnings.len(), 6, "{:#?}", found.warnings);
    assert!(found.warnings.iter().any(|warning| warning.contains("bad/SKILL.md:")), "{:#?}", found.warnings);
}

#[test]
fn a_projects_links_do_not_lead_out_of_it_and_a_persons_do() {
    let world = World::new();
    world.skill("elsewhere/secret", "secret");
    world.skill("repo/inner/x", "inner");
    fs::create_dir_all(world.path("repo/s/linked")).unwrap();
    symlink(world.path("elsewhere/secret"), world.path("repo/s/out")).unwrap();
    symlink(world.path("elsewhere/secret/SKILL.md"), world.path("repo/s/linked/SKILL.md")).unwrap();
    symlink(world.path("repo/inner/x"), world.path("repo/s/in")).unwrap();
    symlink(world.path("repo/s"), world.path("repo/s/loop")).unwrap();
    let projects = found(&[world.place("repo/s", world.project(true))]);
    assert_eq!(projects.skills.keys().collect::<Vec<_>>(), ["inner"]);
    assert_eq!(projects.warnings.len(), 2, "{:#?}", projects.warnings);
    let persons = found(&[world.place("repo/s", Owner::Person)]);
    assert_eq!(persons.skills.keys().collect::<Vec<_>>(), ["inner", "secret"]);

    symlink(world.path("elsewhere"), world.path("repo/whole")).unwrap();
    assert!(found(&[world.place("repo/whole", world.project(true))]).skills.is_empty());
}

#[test]
fn a_skill_that_became_a_link_since_is_not_read() {
    let world = World::new();
    let file = world.skill("repo/s/x", "x");
    let skills = Skills::new(vec![world.place("repo/s", world.project(true))]);
    let skill = skills.find().skills["x"].clone();
    assert_eq!(skills.load(&skill).unwrap().body, "repo/s/x");
    let secret = world.skill("elsewhere", "x");
    fs::remove_file(&file).unwrap();
    symlink(secret, &file).unwrap();
    assert!(skills.load(&skill).unwrap_err().contains("leads out of the project"));
}

#[test]
fn at_most_ten_files_are_named() {
    let world = World::new();
    world.skill("s/x", "x");
    for n in 0..25 {
        world.file(&format!("s/x/f{n:02}.txt"), "");
    }
    world.file("s/x/node_modules/y.js", "");
    let skills = Skills::new(vec![world.place("s", Owner::Person)]);
    let skill = skills.find().skills["x"].clone();
    let files = skills.load(&skill).unwrap().files;
    assert_eq!(files.len(), 10);
    assert!(files[0].ends_with("f00.txt"), "{files:?}");
}
