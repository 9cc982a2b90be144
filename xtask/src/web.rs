//! The program of the pages of `cotree html`: TypeScript below `web/`, bundled into one file that is committed, so that
//! building cotree needs no node.

use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Where the bundle is.
const BUNDLE: &str = "crates/cotree-report/src/pages/report.js";

/// What `npm` and `tsc` read, besides the sources.
const PARTS: [&str; 3] = ["package.json", "package-lock.json", "tsconfig.json"];

/// Arguments of `cargo xtask web`.
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; fail if the bundle is not what the sources give
    #[arg(long)]
    check: bool,
}

/// Makes the bundle, or checks it.
pub fn run(args: &Args) -> Result<()> {
    if args.check {
        return check().map(|said| println!("{said}"));
    }
    let bundle = bundle()?;
    fs::write(workspace::root().join(BUNDLE), &bundle)?;
    println!("{BUNDLE}: {} bytes", bundle.len());
    Ok(())
}

/// Adds the case that the bundle is what the sources give.
pub fn add(suite: &mut Suite) {
    suite.add("the bundle of the pages", check);
}

fn check() -> Result<String> {
    let fresh = bundle()?;
    let committed = fs::read_to_string(workspace::root().join(BUNDLE))?;
    ensure!(committed == fresh, "{BUNDLE} is not what web/ gives: run `cargo xtask web`");
    Ok(format!("{} bytes", fresh.len()))
}

/// Copies the sources to a scratch folder, and installs the tools of `package-lock.json` there. Gives the folder.
fn install(name: &str) -> Result<PathBuf> {
    let (web, folder) = (workspace::root().join("web"), workspace::scratch().join(name));
    fs::create_dir_all(&folder)?;
    let sources = folder.join("src");
    workspace::fresh(&sources)?;
    for name in PARTS {
        fs::copy(web.join(name), folder.join(name)).with_context(|| format!("cannot copy web/{name}"))?;
    }
    for entry in fs::read_dir(web.join("src"))? {
        let entry = entry?;
        fs::copy(entry.path(), sources.join(entry.file_name()))?;
    }
    let mut install = Command::new("npm");
    command::succeed(install.args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(&folder))?;
    Ok(folder)
}

/// Axe, which looks for what keeps people from using a page.
///
/// Several cases want it at the same time, and npm installs but once into a folder.
pub fn axe() -> Result<String> {
    static AXE: Mutex<Option<String>> = Mutex::new(None);
    let mut known = AXE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(axe) = &*known {
        return Ok(axe.clone());
    }
    let file = install("web-axe")?.join("node_modules/axe-core/axe.min.js");
    let axe = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(known.insert(axe).clone())
}

/// Checks the form and the types of the sources, and bundles them; the tools are those of `package-lock.json`.
fn bundle() -> Result<String> {
    let folder = install("web")?;
    command::succeed(tool(&folder, "prettier").args(["--check", "--log-level", "warn", "src"]))
        .context("web/src is not formatted: run `npx prettier --write src` in web/")?;
    command::succeed(tool(&folder, "tsc").args(["--noEmit", "-p", "."]))?;
    let bundle = folder.join("report.js");
    let mut esbuild = tool(&folder, "esbuild");
    esbuild.args(["src/main.ts", "--bundle", "--minify", "--target=es2023", "--format=iife", "--legal-comments=none"]);
    command::succeed(esbuild.arg("--log-level=error").arg(format!("--outfile={}", bundle.display())))?;
    Ok(fs::read_to_string(&bundle)? + &licences(&folder)?)
}

/// The licences of the libraries in the bundle, as a comment each.
fn licences(folder: &Path) -> Result<String> {
    let lock: Value = serde_json::from_str(&fs::read_to_string(folder.join("package-lock.json"))?)?;
    let packages = lock["packages"].as_object().context("package-lock.json has no packages")?;
    let mut text = String::new();
    for (path, package) in packages {
        let Some((_, name)) = path.rsplit_once("node_modules/").filter(|_| package["dev"].as_bool() != Some(true))
        else {
            continue;
        };
        let file = folder.join(path).join("LICENSE");
        let licence = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        ensure!(!licence.contains("*/"), "{} ends a comment", file.display());
        let version = package["version"].as_str().context("a version")?;
        text += &format!("/*! {name} {version}\n\n{}\n*/\n", licence.trim());
    }
    Ok(text)
}

fn tool(folder: &Path, name: &str) -> Command {
    let program: PathBuf = folder.join("node_modules/.bin").join(name);
    let mut tool = Command::new(program);
    tool.current_dir(folder);
    tool
}
