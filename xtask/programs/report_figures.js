// Reads the figures of the pages of `cotree html`, and leaves them for the test. PLAN says how much of large programs.
(async () => {
  await until(shown);
  // What a link leads to stands behind its text, and the path of the file there.
  const cell = (cell) => {
    const link = cell.querySelector('a');
    return link ? [cell.textContent, link.hash, link.title] : cell.textContent;
  };
  const table = (section) => {
    const more = section.querySelector(':scope > button');
    for (let clicks = 0; !more.hidden && clicks < PLAN.clicks; clicks++) more.click();
    return {
      caption: text('h2', section),
      whole: more.hidden,
      head: all('thead th', section).map((head) => head.textContent),
      rows: all('tbody tr', section).map((row) => all('td', row).map(cell)),
    };
  };
  const tables = () => all('.rows').map(table);
  const lines = (of) =>
    all('.lines tbody tr[data-line]', of).map((row) => ({
      line: Number(row.dataset.line),
      runs: text('td', row),
      before: row.querySelector('.was')?.textContent ?? null,
      share: text('.part-of', row),
      below: all('.branches li', row).map((item) => [
        text('small', item),
        item.lastChild.nodeType === 3 ? item.lastChild.data : '',
        all('span', item).map((span) => span.textContent),
      ]),
    }));
  // The hottest of a list, and some of the others.
  const some = (list, most) => {
    const hottest = list.slice(0, Math.ceil(most / 2));
    const others = list.slice(hottest.length);
    const step = Math.max(1, Math.ceil(others.length / Math.floor(most / 2)));
    return [...hottest, ...others.filter((_, at) => at % step === 0)];
  };
  const nodes = (graph) => all('.node', graph).map((node) => all('text', node).map((line) => line.textContent));

  const answers = {};
  answers.units = all('.unit .totals').map((totals) =>
    all('.total', totals).map((total) => ['h3', 'b', 'small'].map((part) => text(part, total))),
  );
  answers.tables = tables();
  answers.meters = all('td meter').map((meter) => [meter.value, meter.max]);
  const links = (prefix) => [...new Set(all(`td.name a[href^="${prefix}"]`).map((link) => link.hash))];
  const files = some(links('#/file/'), PLAN.files);
  const functions = all('.rows').find((section) => text('h2', section) === 'Functions');
  const pages = some(
    all('.name a', functions).map((link) => link.hash),
    PLAN.functions,
  );
  const views = all('#bar nav a').map((link) => link.hash);

  answers.functions = [];
  for (const page of pages) {
    await go(page);
    const facts = Object.fromEntries(all('.facts > div').map((fact) => [text('dt', fact), text('dd', fact)]));
    const graphs = all('.drawing');
    await until(() => graphs.every((drawing) => drawing.querySelector('.graph .node')));
    answers.functions.push({
      page,
      facts,
      tables: tables(),
      lines: lines(document),
      graphs: graphs.map((drawing) => {
        button('Fold loops', drawing)?.click();
        const folded = nodes(drawing.querySelector('.graph'));
        if (Number(number(facts['Blocks run'].split(' of ')[1])) > PLAN.blocks)
          return { folded, nodes: null, edges: [] };
        button('Unfold loops', drawing)?.click();
        return {
          folded,
          nodes: nodes(drawing.querySelector('.graph')),
          edges: all('.edge title', drawing).map((title) => title.textContent),
        };
      }),
    });
  }
  answers.files = [];
  for (const page of files) {
    await go(page);
    // Of a large file only what is looked at is there.
    for (const name of ['Next hottest', 'Next never reached']) {
      const next = all('.heading button').find((button) => button.textContent.startsWith(name));
      for (let clicks = 0; next && clicks < 20; clicks++) next.click();
    }
    answers.files.push({ path: text('.heading small'), lines: lines(document) });
  }
  if (views.includes('#/paths')) {
    await go('#/paths');
    const story = (row) =>
      all('.story li', row).map((part) => ({
        link: part.querySelector('a')?.hash ?? null,
        context: part.className === 'context',
        depth: parseFloat(part.style.paddingLeft || '0') / 1.25,
        route: text('small', part),
      }));
    answers.paths = { said: text('#main p'), table: tables()[0], stories: all('.rows tbody tr').map(story) };
  }
  if (views.includes('#/compare')) {
    await go('#/compare');
    answers.compare = tables();
  }
  await go('#/flame');
  answers.flame = all('.boxes .box').map((box) => [
    text('title', box),
    box.dataset.total,
    box.querySelector('rect').getAttribute('y'),
  ]);
  await go('#/file/999999');
  answer(answers);
})();
