//! Where the sources are: the workspace's own, and those of what it depends on.
//!
//! What a project says it depends on chooses among what package managers keep. A lock file comes with the repository, so
//! nothing in it is taken for a path: a name that could leave the directory of its package manager names nothing.

mod listed;
mod marks;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::workspace::{Kind, Place, ResolveError, Sources, Workspace};
use listed::{cargo, go, python};
use marks::{Mark, marks};

/// So many packages are searched.
const PACKAGES_MAX: usize = 5000;

/// Where package managers keep what they fetched. They are the person's, never the project's.
#[derive(Debug, Clone, Default)]
pub struct SourceStores {
    /// The home of cargo, in which `registry/src` and `git/checkouts` are.
    pub cargo: Option<PathBuf>,
    /// The cache of Go's modules.
    pub go: Option<PathBuf>,
    /// The virtual environment of Python that is active.
    pub python: Option<PathBuf>,
}

/// Who keeps a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ecosystem {
    Cargo,
    Go,
    Node,
    Python,
    Vendored,
}

impl Ecosystem {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ecosystem::Cargo => "cargo",
            Ecosystem::Go => "go",
            Ecosystem::Node => "node",
            Ecosystem::Python => "python",
            Ecosystem::Vendored => "vendored",
        }
    }
}

/// A package whose sources are here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) ecosystem: Ecosystem,
    /// The tree it is in, and where.
    pub(super) tree: usize,
    pub(super) root: PathBuf,
}

/// What a tree holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Workspace,
    CargoRegistries,
    CargoCheckouts,
    GoModules,
    SitePackages,
}

/// What there is to search around a workspace. Only names were looked at so far.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    trees: Vec<(Holds, Place)>,
    marks: Vec<Mark>,
}

impl Surroundings {
    /// Looks for what the workspace depends on, and where that is kept.
    pub(crate) fn of(workspace: &Workspace, stores: &SourceStores) -> Result<Surroundings, ResolveError> {
        let base = workspace.locate(workspace.base())?;
        let marks = marks(base.real());
        let has = |wanted: fn(&Mark) -> bool| marks.iter().any(wanted);
        let mut trees = vec![(Holds::Workspace, base)];
        let mut add = |holds: Holds, path: PathBuf| {
            // What cannot be reached is not there.
            let place = workspace.locate(&path).ok().filter(|place| place.kind() == Kind::Directory);
            trees.extend(place.map(|place| (holds, place)));
        };
        if let Some(home) = stores.cargo.as_ref().filter(|_| has(|mark| matches!(mark, Mark::CargoLock(_)))) {
            add(Holds::CargoRegistries, home.join("registry/src"));
            add(Holds::CargoCheckouts, home.join("git/checkouts"));
        }
        if let Some(cache) = stores.go.as_ref().filter(|_| has(|mark| matches!(mark, Mark::GoMod(_)))) {
            add(Holds::GoModules, cache.clone());
        }
        if let Some(packages) = stores.python.as_deref().and_then(marks::site_packages) {
            add(Holds::SitePackages, packages);
        }
        Ok(Surroundings { trees, marks })
    }

    /// The trees, that of the workspace first.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Place> {
        self.trees.iter().map(|(_, place)| place)
    }

    /// The same with only those trees of which something holds.
    pub(crate) fn only(&self, mut keeps: impl FnMut(&Place) -> bool) -> Surroundings {
        let trees = self.trees.iter().filter(|(_, place)| keeps(place)).cloned().collect();
        Surroundings { trees, marks: self.marks.clone() }
    }

    /// The directories of the workspace that hold packages, and so are not searched with the rest of it.
    pub(super) fn apart(&self) -> Vec<PathBuf> {
        let directory = |mark: &Mark| match mark {
            Mark::NodeModules(path) | Mark::Vendor(path) => Some(path.clone()),
            Mark::Environment { directory, .. } => Some(directory.clone()),
            Mark::CargoLock(_) | Mark::GoMod(_) => None,
        };
        self.marks.iter().filter_map(directory).collect()
    }

    /// Which of the trees hold packages of which kind, and the packages in them.
    pub(super) fn packages(&self, sources: &Sources) -> Vec<Package> {
        let mut known = BTreeSet::new();
        let mut packages = Vec::new();
        let of_marks = self.marks.iter().flat_map(|mark| self.marked(sources, mark));
        let trees = self.trees.iter().enumerate().filter(|(_, (holds, _))| *holds == Holds::SitePackages);
        let of_trees = trees.flat_map(|(tree, _)| python(sources, tree, Path::new("")));
        for package in of_marks.chain(of_trees) {
            if packages.len() < PACKAGES_MAX && known.insert((package.tree, package.root.clone())) {
                packages.push(package);
            }
        }
        packages
    }

    fn marked(&self, sources: &Sources, mark: &Mark) -> Vec<Package> {
        let tree = |wanted: Holds| self.trees.iter().position(|(holds, _)| *holds == wanted);
        let Some(workspace) = tree(Holds::Workspace) else { return Vec::new() };
        match mark {
            Mark::CargoLock(file) => {
                let lock = sources.text(workspace, file).unwrap_or_default();
                cargo(sources, &lock, tree(Holds::CargoRegistries), tree(Holds::CargoCheckouts))
            }
            Mark::GoMod(file) => {
                let listed = sources.text(workspace, file).unwrap_or_default();
                tree(Holds::GoModules).map_or_else(Vec::new, |tree| go(sources, &listed, tree))
            }
            Mark::NodeModules(directory) => listed::node(sources, workspace, directory),
            Mark::Vendor(directory) => listed::vendored(sources, workspace, directory),
            Mark::Environment { packages, .. } => python(sources, workspace, packages),
        }
    }
}
