//! The modules of a crate as its sources declare them, and which file defines what a path names.

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, UseTree, Visibility};

/// A path of names, as `["crate", "graph", "Cfg"]`.
type Names = Vec<String>;

/// One module, which has a file of its own or stands within another's.
#[derive(Default)]
struct Module {
    file: usize,
    /// What it defines itself.
    items: BTreeSet<String>,
    children: BTreeMap<String, Names>,
    /// What its `use` items bring in: the name there, and the path that it stands for.
    aliases: BTreeMap<String, Names>,
    globs: Vec<Names>,
    /// Each path that its code names, and each name that a private `use` brings in. A `pub use` hands a name on and
    /// needs nothing by itself.
    named: BTreeSet<Names>,
}

/// All modules of a crate, by their absolute path. Test modules are left out.
pub struct Modules {
    modules: BTreeMap<Names, Module>,
    pub files: Vec<PathBuf>,
}

impl Modules {
    /// Reads the crate whose root module is in `root`, such as `src/lib.rs`.
    pub fn read(root: &Path) -> Result<Modules> {
        let mut all = Modules { modules: BTreeMap::new(), files: Vec::new() };
        let folder = root.parent().context("a file stands in a folder")?;
        all.read_file(vec!["crate".into()], root, folder)?;
        Ok(all)
    }

    fn read_file(&mut self, path: Names, file: &Path, folder: &Path) -> Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("can't parse {}", file.display()))?;
        self.files.push(file.to_owned());
        self.read_items(path, self.files.len() - 1, &parsed.items, folder)
    }

    fn read_items(&mut self, path: Names, file: usize, items: &[Item], folder: &Path) -> Result<()> {
        let mut module = Module { file, ..Module::default() };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(child) => self.read_child(&path, &mut module, child, folder)?,
                Item::Use(item) => module.import(Vec::new(), &item.tree, &item.vis),
                _ => {
                    module.items.extend(name(item));
                    module.visit_item(item);
                }
            }
        }
        self.modules.insert(path, module);
        Ok(())
    }

    fn read_child(&mut self, parent: &Names, module: &mut Module, child: &ItemMod, folder: &Path) -> Result<()> {
        let name = child.ident.to_string();
        let path = joined(parent, std::slice::from_ref(&name));
        module.children.insert(name.clone(), path.clone());
        let folder_of_child = folder.join(&name);
        match &child.content {
            Some((_, items)) => self.read_items(path, module.file, items, &folder_of_child),
            None => {
                let places = [folder.join(format!("{name}.rs")), folder_of_child.join("mod.rs")];
                let file = places.iter().find(|place| place.exists());
                let file = file.with_context(|| format!("module {} has no file", path.join("::")))?;
                self.read_file(path, file, &folder_of_child)
            }
        }
    }

    /// The arrows of the crate: for each file the files that define what it names, itself excluded.
    pub fn arrows(&self) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut arrows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (path, module) in &self.modules {
            let to = module.named.iter().filter_map(|named| self.resolve(path, named, &mut BTreeSet::new()));
            arrows.entry(module.file).or_default().extend(to.filter(|&to| to != module.file));
        }
        arrows
    }

    /// The file that defines what `names` stands for within module `from`; none if that is another crate, or a module.
    /// `seen` has the names that were replaced so far, with their modules: `use gimli::gimli` leads back to itself.
    fn resolve(&self, from: &Names, names: &[String], seen: &mut BTreeSet<(Names, String)>) -> Option<usize> {
        let module = self.modules.get(from)?;
        let (first, rest) = names.split_first()?;
        match first.as_str() {
            "crate" => return self.resolve(&vec!["crate".into()], rest, seen),
            "self" => return self.resolve(from, rest, seen),
            "super" => return self.resolve(&from[..from.len() - 1].to_vec(), rest, seen),
            _ => {}
        }
        if module.items.contains(first) {
            return Some(module.file);
        }
        if let Some(child) = module.children.get(first) {
            return self.resolve(child, rest, seen);
        }
        if !seen.insert((from.clone(), first.clone())) {
            return None;
        }
        if let Some(target) = module.aliases.get(first) {
            return self.resolve(from, &joined(target, rest), seen);
        }
        module.globs.iter().find_map(|glob| self.resolve(from, &joined(glob, names), seen))
    }
}

fn joined(first: &[String], rest: &[String]) -> Names {
    first.iter().chain(rest).cloned().collect()
}

impl Module {
    /// Takes in what a `use` item brings, whose path so far is `prefix`.
    fn import(&mut self, mut prefix: Names, tree: &UseTree, visibility: &Visibility) {
        let (alias, target) = match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                return self.import(prefix, &path.tree, visibility);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(prefix.clone(), tree, visibility));
            }
            UseTree::Glob(_) => return self.globs.push(prefix),
            UseTree::Name(name) if name.ident == "self" => (prefix.last().cloned().unwrap_or_default(), prefix),
            UseTree::Name(name) => (name.ident.to_string(), joined(&prefix, &[name.ident.to_string()])),
            UseTree::Rename(rename) => (rename.rename.to_string(), joined(&prefix, &[rename.ident.to_string()])),
        };
        if matches!(visibility, Visibility::Inherited) {
            self.named.insert(target.clone());
        }
        self.aliases.insert(alias, target);
    }

    /// Takes each `a::b` that stands in the arguments of a macro.
    fn scan(&mut self, tokens: TokenStream) {
        let mut names = Names::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.name(std::mem::take(&mut names));
                    }
                    names.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.scan(group.stream());
                    self.name(std::mem::take(&mut names));
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.name(std::mem::take(&mut names)),
            }
        }
        self.name(names);
    }

    fn name(&mut self, names: Names) {
        if !names.is_empty() {
            self.named.insert(names);
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.name(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.scan(called.tokens.clone());
        visit::visit_macro(self, called);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(Vec::new(), &item.tree, &item.vis);
    }
}

/// Whether an item is there for tests alone.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::TraitAlias(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}
