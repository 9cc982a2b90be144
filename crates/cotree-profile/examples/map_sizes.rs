//! What the map of a binary costs, stream by stream: `cargo run -p cotree-profile --example map_sizes BINARY`.

use object::{Object, ObjectSection};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a binary")?;
    let bytes = std::fs::read(path)?;
    let elf = object::File::parse(&*bytes)?;
    let section = elf.section_by_name(".cotree.map").ok_or("no map")?.data()?;
    let text = elf.section_by_name(".text").map_or(1, |s| s.size());
    let begun = std::time::Instant::now();
    let (map, _) = cotree_profile::map::decode(section)?;
    let decoded = begun.elapsed();
    let begun = std::time::Instant::now();
    let again = cotree_profile::map::encode(&map, cotree_profile::binary::UnitId::default());
    println!("decoded in {decoded:?}, encoded in {:?}", begun.elapsed());
    let functions = || map.program.functions().map(|(_, f)| f);
    println!(
        "{} functions, {} blocks, {} edges, {} spans, {} sites, {} inlined, {} counters, {} returns",
        functions().count(),
        functions().map(|f| f.blocks.len()).sum::<usize>(),
        functions().map(|f| f.edges.len()).sum::<usize>(),
        functions().flat_map(|f| &f.blocks).map(|b| b.lines.len()).sum::<usize>(),
        functions().map(|f| f.sites().len()).sum::<usize>(),
        functions().map(|f| f.inlined.len()).sum::<usize>(),
        map.plan.method.functions().map(|plan| plan.counters).sum::<usize>(),
        map.code.functions.iter().map(|f| f.returns.len()).sum::<usize>(),
    );
    for (name, unpacked, packed) in cotree_profile::map::sizes(&again)? {
        println!("{name:>12} {unpacked:>9} {packed:>8} {:>6.2}%", packed as f64 * 100.0 / text as f64);
    }
    println!("{:>12} {:>9} {:>8} {:>6.2}%", "section", "", again.len(), again.len() as f64 * 100.0 / text as f64);
    Ok(())
}
