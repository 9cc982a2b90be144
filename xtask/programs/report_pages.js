// Reads the pages of `cotree html` as a reader does, and leaves what they say for the test.
(async () => {
  const until = (found) =>
    new Promise((resolve) => {
      const timer = setInterval(() => {
        const what = found();
        if (!what) return;
        clearInterval(timer);
        resolve(what);
      }, 20);
    });
  const go = async (hash) => {
    location.hash = hash;
    await until(() => document.documentElement.dataset.shown === hash);
  };
  const number = (text) => text.replaceAll(',', '').trim();
  const all = (selector, of = document) => [...of.querySelectorAll(selector)];
  const button = (name) => all('button').find((button) => button.textContent === name);
  await until(() => document.documentElement.dataset.shown);
  const rows = (caption) => {
    const section = all('.rows').find((section) => section.querySelector('h2').textContent === caption);
    for (let more = section.querySelector(':scope > button'); !more.hidden; ) more.click();
    return { section, rows: all('tbody tr', section) };
  };
  const answers = {};
  const functions = rows('Functions');
  answers.functions = functions.rows.map((row) => {
    const cells = all('td', row).map((cell) => cell.textContent);
    return [row.querySelector('.name a').hash, cells[5], number(cells[0]), number(cells[2])];
  });
  // The search narrows, and sorting turns.
  const search = functions.section.querySelector('input');
  search.value = 'luav_EXEC';
  search.dispatchEvent(new Event('input'));
  answers.found = all('tbody tr', functions.section).map((row) => row.querySelector('.name').textContent);
  const page = functions.section.querySelector('.name a').hash;
  await go(page);
  await until(() => document.querySelector('.graph .node'));
  button('Unfold loops').click();
  answers.blocks = all('.graph .node')
    .map((node) => node.querySelector('text').textContent.match(/^b(\d+) +([\d,]+)$/))
    .flatMap((found) => (found ? [[Number(found[1]), number(found[2])]] : []));
  answers.edges = all('.graph .edge title').flatMap(({ textContent }) => {
    const found = textContent.match(/^b(\d+) to (b(\d+)|exit): .* ([\d,]+)$/);
    return found ? [[Number(found[1]), found[3] === undefined ? null : Number(found[3]), number(found[4])]] : [];
  });
  answers.unfolded = all('.graph .node').length;
  button('Fold loops').click();
  answers.folded = all('.graph .node').length;
  document.querySelector('.graph .folded').dispatchEvent(new MouseEvent('click'));
  answers.opened = all('.graph .node').length;
  const box = document.querySelector('.graph').getAttribute('viewBox');
  button('+').click();
  answers.zoomed = document.querySelector('.graph').getAttribute('viewBox') !== box;
  // Over the place to the source, and back again.
  const place = document.querySelector('.facts a').hash;
  await go(place);
  answers.here = document.querySelector('.lines .here') !== null || (await until(() => document.querySelector('.lines .here'))) !== null;
  answers.lines = all('.lines tbody tr').flatMap((row) => {
    const count = row.querySelector('td').textContent;
    return count ? [[Number(row.dataset.line), number(count)]] : [];
  });
  answers.path = document.querySelector('.heading small').textContent;
  await go('#/flame');
  const boxes = all('.boxes .box');
  const level = (box) => box.querySelector('rect').getAttribute('y');
  answers.flame = boxes.filter((box) => level(box) === '0').map((box) => box.dataset.total);
  boxes.find((box) => box.querySelector('title').textContent.startsWith('luaV_execute:')).dispatchEvent(new MouseEvent('click'));
  answers.widest = all('.boxes .box').filter((box) => Number(box.querySelector('rect').getAttribute('width')) > 1599).length;
  history.back();
  await until(() => document.documentElement.dataset.shown !== '#/flame');
  history.back();
  await until(() => document.documentElement.dataset.shown === page);
  await go('#/file/999999');
  answers.refused = document.querySelector('[role=alert]')?.textContent ?? '';
  document.body.dataset.answers = JSON.stringify(answers);
})();
