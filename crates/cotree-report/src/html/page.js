// What scripts add to pages: sorting, filters, folding, keys, and the switch between light and dark. Pages are whole
// without it. Text goes in as text only.
'use strict';
(() => {
  const root = document.documentElement;
  root.classList.add('js');
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, attributes = {}, ...content) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...content);
    return element;
  };
  const button = (label, title, act) => {
    const made = make('button', { type: 'button', title }, label);
    made.addEventListener('click', act);
    return made;
  };
  /** What each key does: its words, and its deed. */
  const keys = new Map();
  const tools = one('.tools');

  // What stays at the top may take two rows: what stays below it must know.
  const bar = one('.bar');
  new ResizeObserver(() => {
    const height = getComputedStyle(bar).position === 'sticky' ? `${bar.offsetHeight}px` : '0px';
    root.style.setProperty('--bar-height', height);
  }).observe(bar);

  // Light and dark.
  const isDark = () => {
    const chosen = root.dataset.theme;
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  };
  const turn = () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    try { localStorage.setItem('cotree-theme', root.dataset.theme); } catch { /* Then it holds for this page. */ }
  };
  tools.append(button('Light/dark', 'Light or dark (t)', turn));
  keys.set('t', ['Light or dark', turn]);

  // A box that filters; the rest is told by the page's kind.
  const searchBox = (label, act) => {
    const box = make('input', { type: 'search', placeholder: `${label} (/)`, 'aria-label': label, spellcheck: 'false' });
    box.addEventListener('input', () => act(box.value.trim().toLowerCase()));
    box.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') { box.value = ''; act(''); box.blur(); }
    });
    keys.set('/', [label, () => box.focus()]);
    return box;
  };

  const tree = one('#files');
  if (tree) overview();
  const code = one('table.code');
  if (code) source();
  const list = one('[data-filter="functions"]');
  if (list) filterEntries(list, all('li', list), 'Filter functions');
  const tests = one('[data-filter="tests"]');
  if (tests) filterEntries(tests, all('tbody tr', tests), 'Filter tests');
  if (one('#tests')) testsOfLines();

  function overview() {
    const rows = all('tbody tr', tree).map((element, order) => {
      const isFolder = element.classList.contains('d');
      const path = one(isFolder ? 'th span' : 'th a', element).textContent;
      return { element, order, isFolder, path, lower: path.toLowerCase(), folded: false };
    });
    const files = rows.filter((row) => !row.isFolder);
    const folders = rows.filter((row) => row.isFolder);
    let filter = '';
    let sorted = null;

    /** Puts rows into groups again, of which the browser lays out those that are seen. */
    const place = (ordered) => {
      all('tbody', tree).forEach((body) => body.remove());
      for (let start = 0; start < ordered.length; start += 100) {
        tree.append(make('tbody', {}, ...ordered.slice(start, start + 100).map((row) => row.element)));
      }
    };
    const show = () => {
      const flat = filter !== '' || sorted !== null;
      tree.classList.toggle('flat', flat);
      let found = 0;
      let closed = null;
      for (const row of rows) {
        if (flat) {
          row.element.hidden = row.isFolder || !row.lower.includes(filter);
          found += row.element.hidden ? 0 : 1;
          continue;
        }
        if (closed !== null && !row.path.startsWith(closed)) closed = null;
        row.element.hidden = closed !== null;
        if (closed === null && row.isFolder && row.folded) closed = row.path;
      }
      said.textContent = filter ? `${found} of ${files.length} files` : '';
    };

    // Folding.
    const fold = (row, folded) => {
      row.folded = folded;
      row.button.setAttribute('aria-expanded', String(!folded));
    };
    for (const row of folders) {
      row.button = button('', '', () => { fold(row, !row.folded); show(); });
      row.button.setAttribute('aria-label', `Files in ${row.path}`);
      row.button.setAttribute('aria-expanded', 'true');
      one('th', row.element).prepend(row.button);
    }
    const depth = (row) => Number(/\bi(\d+)/.exec(row.element.className)[1]);
    const foldAll = (folded) => { folders.forEach((row) => fold(row, folded)); show(); };

    // Sorting: the first time as is most useful, then the other direction, then by folders again.
    const value = (row, column) => {
      if (column === 0) return row.lower;
      const text = row.element.children[column].textContent;
      const shares = /([\d,]+)\/([\d,]+)$/.exec(text);
      if (!shares) return text === '' ? 2 : Number(text.replaceAll(',', ''));
      return Number(shares[1].replaceAll(',', '')) / Number(shares[2].replaceAll(',', ''));
    };
    const heads = all('thead th', tree);
    heads.forEach((head, column) => {
      const isMissed = head.textContent === 'Missed';
      const directions = isMissed ? ['descending', 'ascending', null] : ['ascending', 'descending', null];
      const label = head.textContent;
      const act = () => {
        const now = sorted && sorted.column === column ? directions.indexOf(sorted.direction) : -1;
        const direction = directions[now + 1];
        sorted = direction ? { column, direction } : null;
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        if (!sorted) {
          place(rows);
        } else {
          head.setAttribute('aria-sort', direction);
          const sign = direction === 'ascending' ? 1 : -1;
          const keyed = files.map((row) => ({ row, key: value(row, column), missed: value(row, 2) }));
          keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : b.missed - a.missed || a.row.order - b.row.order));
          place([...keyed.map(({ row }) => row), ...folders]);
        }
        show();
      };
      head.replaceChildren(button(label, `Sort by ${label.toLowerCase()}`, act));
    });

    const said = make('small', { role: 'status' });
    const finder = make('div', { class: 'finder' }, said);
    const box = searchBox('Filter files', (text) => { filter = text; show(); });
    finder.append(box);
    if (folders.length > 0) {
      finder.append(button('Fold', 'Fold all folders', () => foldAll(true)), button('Unfold', 'Unfold all folders', () => foldAll(false)));
    }
    tree.before(finder);

    // A large tree begins folded, as deep as fits a few screens.
    if (rows.length > 150) {
      let open = 0;
      while (open < 9 && rows.filter((row) => depth(row) <= open + 1).length <= 150) open += 1;
      folders.filter((row) => depth(row) >= open).forEach((row) => fold(row, true));
      show();
    }
  }

  function source() {
    const base = code.dataset;
    // A line of another page of the same file.
    const follow = () => {
      const line = Number(/^#L(\d+)$/.exec(location.hash)?.[1] ?? 0);
      if (line < 1 || line > Number(base.last) || document.getElementById(`L${line}`)) return;
      const part = Math.ceil(line / Number(base.lines));
      location.replace(`${base.page}${part > 1 ? `.part${part}` : ''}.html#L${line}`);
    };
    addEventListener('hashchange', follow);
    follow();

    let places = null;
    /** The rows at which something begins that did not run, as the overview counts them. */
    const find = () => {
      if (places) return places;
      let last = '';
      places = [];
      for (const row of all('tr[class]', code)) {
        if (row.className === 's' || row.className === 'e') continue;
        if (row.className !== 'r' && row.className !== last) places.push(row);
        last = row.className;
      }
      return places;
    };
    const middle = () => innerHeight / 2;
    const go = (forward) => {
      const found = find();
      const top = (row) => row.getBoundingClientRect().top - middle();
      // The first one below the middle of the window.
      let [low, high] = [0, found.length];
      while (low < high) {
        const half = (low + high) >> 1;
        if (top(found[half]) > (forward ? 2 : -24)) high = half; else low = half + 1;
      }
      const current = location.hash ? found.findIndex((row) => `#${row.id}` === location.hash) : -1;
      let next = forward ? low : low - 1;
      // Near the ends of a page a place can't come to the middle.
      if (current >= 0 && next === current) next += forward ? 1 : -1;
      if (current >= 0 && forward && next < current && top(found[current]) > 0) next = current + 1;
      const row = found[next];
      if (!row) {
        const other = forward ? base.behind : base.before;
        if (other) location.assign(other);
        return;
      }
      location.replace(`#${row.id}`);
      row.scrollIntoView({ block: 'center' });
      requestAnimationFrame(() => row.scrollIntoView({ block: 'center' }));
    };
    const unfold = () => {
      const folds = all('details', code);
      const open = folds.some((fold) => !fold.open);
      folds.forEach((fold) => { fold.open = open; });
    };
    const next = one('#next');
    if (next) {
      next.before(button('↑', 'The one before that did not run (p)', () => go(false)));
      next.replaceWith(button('↓ Not run', 'The next that did not run (n)', () => go(true)));
      keys.set('n', ['Next that did not run', () => go(true)]);
      keys.set('p', ['The one before', () => go(false)]);
    }
    if (one('details', code)) {
      tools.prepend(button('Branches', 'Unfold or fold all branches and instances (b)', unfold));
      keys.set('b', ['Unfold or fold all branches', unfold]);
    }
    keys.set('o', ['Overview', () => one('.home').click()]);
    requestAnimationFrame(drawMap);

    /** Marks beside the scroll bar where something did not run. */
    function drawMap() {
      const rows = all('tr', code);
      if (rows.length < 60) return;
      const map = make('div', { class: 'map', 'aria-hidden': 'true' });
      const steps = Math.min(rows.length, 400);
      for (let step = 0; step < steps; step += 1) {
        const part = rows.slice(Math.floor((step * rows.length) / steps), Math.floor(((step + 1) * rows.length) / steps));
        const kind = part.some((row) => row.className === 'u') ? 'u' : part.some((row) => row.className === 'p') ? 'p' : '';
        if (!kind) continue;
        const mark = make('div', { class: kind });
        mark.style.top = `${(step / steps) * 100}%`;
        mark.style.height = `${100 / steps}%`;
        map.append(mark);
      }
      document.body.append(map);
    }
  }

  function filterEntries(box, elements, label) {
    const entries = elements.map((element) => ({ element, text: element.firstElementChild.textContent.toLowerCase() }));
    if (entries.length < 2) return;
    box.before(searchBox(label, (text) => {
      entries.forEach((entry) => { entry.element.hidden = !entry.text.includes(text); });
    }));
  }

  /** Names the tests of a line, or of a function, where one is. */
  function testsOfLines() {
    // A line's tests stand below it, those of a function in its entry.
    const around = (element) => element.closest?.('.code > tbody > tr, .side li');
    const close = (link) => {
      link.setAttribute('aria-expanded', 'false');
      one('.of-line', around(link))?.remove();
    };
    const open = (link) => {
      const set = document.getElementById(link.hash.slice(1));
      const names = make('ul');
      for (const [, first, last] of set.textContent.matchAll(/(\d+)(?:–(\d+))?/g)) {
        for (let number = Number(first); number <= Number(last ?? first); number += 1) {
          const name = one('th', document.getElementById(`t${number}`)).textContent;
          names.append(make('li', {}, make('a', { href: `#t${number}` }, name)));
        }
      }
      link.setAttribute('aria-expanded', 'true');
      around(link).append(make(link.closest('.code') ? 'td' : 'div', { class: 'of-line' }, names));
    };
    const toggle = (link) => (link.getAttribute('aria-expanded') === 'true' ? close(link) : open(link));
    for (const link of all('a.tests')) {
      link.setAttribute('role', 'button');
      link.setAttribute('aria-expanded', 'false');
    }
    document.addEventListener('click', (event) => {
      const link = event.target.closest?.('a.tests');
      if (!link) return;
      event.preventDefault();
      toggle(link);
    });
    document.addEventListener('keydown', (event) => {
      const place = around(event.target);
      const link = place && one('a.tests[aria-expanded="true"]', place);
      if (event.key === 'Escape' && link) { close(link); link.focus(); }
      if (event.key === ' ' && event.target.matches?.('a.tests')) { event.preventDefault(); toggle(event.target); }
    });
    keys.set('w', ['Which tests ran this line', () => {
      const row = around(document.activeElement) ?? one('.code tr:target');
      const link = row && one('a.tests', row);
      if (link) toggle(link);
    }]);
    tools.prepend(make('a', { href: '#tests' }, 'Tests'));
  }

  // Keys.
  const help = () => {
    const lines = make('dl');
    for (const [key, [words]] of keys) lines.append(make('dt', {}, make('kbd', {}, key)), make('dd', {}, words));
    const dialog = make('dialog', { 'aria-label': 'Keys' }, make('h2', {}, 'Keys'), lines);
    dialog.append(button('Close', 'Close', () => dialog.close()));
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  keys.set('?', ['These keys', help]);
  tools.append(button('?', 'Keys (?)', help));
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    const deed = keys.get(event.key);
    if (!deed || one('dialog')) return;
    event.preventDefault();
    deed[1]();
  });
})();
