//! A page as a browser reads it, and what holds for all of a folder.

use html5gum::{Token, Tokenizer};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// An element with its attributes and all text in it.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub text: String,
    /// The elements around it, by their places in the page; the outermost first.
    around: Vec<usize>,
}

impl Element {
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    pub fn is(&self, name: &str, class: &str) -> bool {
        self.name == name && (class.is_empty() || self.attribute("class").split(' ').any(|one| one == class))
    }
}

/// A page.
pub struct Page {
    pub elements: Vec<Element>,
}

/// A line of a source page.
#[derive(Debug)]
pub struct Line {
    pub class: String,
    /// The count; `None` if it has no code.
    pub count: Option<u64>,
    /// Outcomes of its conditions: those that were seen, and all.
    pub branches: (u64, u64),
    /// The text, with what can be unfolded.
    pub text: String,
    /// The tests that a link names.
    pub tests: Option<Vec<String>>,
    /// The parts that are marked as not run.
    pub marks: Vec<String>,
}

impl Page {
    /// Reads a page; nothing in it may be wrong.
    pub fn read(path: &Path) -> Page {
        const VOID: [&str; 4] = ["meta", "link", "input", "br"];
        let html = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        let (mut elements, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
        for token in Tokenizer::new(&html) {
            match token.expect("no error of input") {
                Token::StartTag(tag) => {
                    let attributes = tag.attributes.iter().map(|(name, value)| (text(name), text(value))).collect();
                    let name = text(&tag.name);
                    let is_void = VOID.contains(&name.as_str());
                    elements.push(Element { name, attributes, text: String::new(), around: open.clone() });
                    if !is_void {
                        open.push(elements.len() - 1);
                    }
                }
                Token::EndTag(tag) => {
                    let last = open.pop().expect("an open element");
                    assert_eq!(text(&tag.name), elements[last].name, "{}", path.display());
                }
                Token::String(part) => open.iter().for_each(|&at| elements[at].text.push_str(&text(&part))),
                Token::Doctype(_) => assert!(elements.is_empty()),
                other => panic!("{}: {other:?}", path.display()),
            }
        }
        assert!(open.is_empty());
        Page { elements }
    }

    /// The elements of a name and a class.
    pub fn all<'p>(&'p self, name: &'p str, class: &'p str) -> impl Iterator<Item = &'p Element> {
        self.elements.iter().filter(move |element| element.is(name, class))
    }

    /// The elements in another one.
    pub fn within<'p>(&'p self, outer: &'p Element, name: &'p str) -> impl Iterator<Item = &'p Element> {
        let place = self.elements.iter().position(|element| std::ptr::eq(element, outer)).expect("its element");
        self.all(name, "").filter(move |element| element.around.contains(&place))
    }

    /// The names of the tests that a link leads to: a set of numbers, of the list on the page.
    pub fn tests(&self, link: &Element) -> Vec<String> {
        let of_id = |id: &str| self.elements.iter().find(|element| element.attribute("id") == id).expect("a place");
        let set = &of_id(&link.attribute("href")[1..]).text;
        let numbers = set.split(", ").flat_map(|part| {
            let (first, last) = part.split_once('–').unwrap_or((part, part));
            first.parse::<usize>().expect("a number")..=last.parse().expect("a number")
        });
        let names: Vec<String> = numbers
            .map(|number| self.within(of_id(&format!("t{number}")), "th").next().expect("a name").text.clone())
            .collect();
        assert_eq!(names.len().to_string(), link.text.split(' ').next().expect("a number"));
        names
    }

    /// The lines by their numbers.
    pub fn lines(&self) -> BTreeMap<u32, Line> {
        let number = |text: &str| text.replace(',', "").parse::<u64>().expect("a number");
        let mut lines = BTreeMap::new();
        for row in self.all("tr", "").filter(|row| row.attribute("id").starts_with('L')) {
            let cells: Vec<&Element> =
                self.within(row, "td").filter(|cell| cell.around.len() == row.around.len() + 1).collect();
            let [count, text, tests @ ..] = cells.as_slice() else { panic!("{row:?}") };
            let mut branches = (0, 0);
            for label in
                self.within(row, "summary").filter(|label| label.text.starts_with(|c: char| c.is_ascii_digit()))
            {
                let Some((seen, all)) = label.text.split_once('/') else { continue };
                branches = (number(seen), number(all));
            }
            let line = Line {
                class: row.attribute("class").into(),
                count: (!count.text.is_empty()).then(|| number(&count.text)),
                branches,
                text: text.text.clone(),
                tests: tests.first().and_then(|cell| self.within(cell, "a").next()).map(|link| self.tests(link)),
                marks: self.within(row, "mark").map(|mark| mark.text.clone()).collect(),
            };
            lines.insert(number(&row.attribute("id")[1..]) as u32, line);
        }
        lines
    }
}

/// Checks all files of a folder of pages: nothing comes from elsewhere, no text became code, and links lead somewhere.
/// Gives the pages by their paths in the folder.
pub fn check(folder: &Path) -> BTreeMap<String, Page> {
    let mut pages = BTreeMap::new();
    let mut files = BTreeSet::new();
    for below in ["", "files/"] {
        for entry in fs::read_dir(folder.join(below)).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("a name");
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)), "{name}");
            if name.ends_with(".html") {
                pages.insert(format!("{below}{name}"), Page::read(&entry.path()));
            } else if entry.path().is_file() {
                let text = fs::read_to_string(entry.path()).expect("text");
                assert!(!text.contains("http"), "{name}");
            }
            files.insert(format!("{below}{name}"));
        }
    }
    let ids = |page: &Page| {
        let all: Vec<String> =
            page.elements.iter().filter_map(|element| element.attributes.get("id").cloned()).collect();
        let set: BTreeSet<String> = all.iter().cloned().collect();
        assert_eq!(set.len(), all.len(), "an id twice");
        set
    };
    let all_ids: BTreeMap<&String, BTreeSet<String>> = pages.iter().map(|(path, page)| (path, ids(page))).collect();
    for (path, page) in &pages {
        let policy = page.all("meta", "").find(|meta| meta.attribute("http-equiv") == "Content-Security-Policy");
        let policy = policy.expect("a policy").attribute("content");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        for element in &page.elements {
            assert!(element.name != "script" || element.text.is_empty(), "{path}");
            for (name, value) in &element.attributes {
                assert!(name != "style" && !name.starts_with("on"), "{path}: {name}");
                let link = name == "href" || name == "src" || name == "data-before" || name == "data-behind";
                assert!(name != "title" || !value.is_empty(), "{path}: {element:?}");
                if !link {
                    continue;
                }
                assert!(!value.contains(':') && !value.starts_with('/'), "{path}: {value}");
                let (file, place) = value.split_once('#').unwrap_or((value, ""));
                let target = match (file, path.rsplit_once('/')) {
                    ("", _) => path.clone(),
                    (file, None) => file.into(),
                    (file, Some((folder, _))) => {
                        file.strip_prefix("../").map_or_else(|| format!("{folder}/{file}"), str::to_owned)
                    }
                };
                assert!(files.contains(&target), "{path}: {value}");
                assert!(place.is_empty() || all_ids[&target].contains(place), "{path}: {value}");
            }
        }
    }
    pages
}
