// What a reader does, for the test of pages: the answers stand in an attribute of the document.
addEventListener('load', () => {
  const answers = [];
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  const rows = () => [...document.querySelectorAll('.tree tbody tr')].filter((row) => !row.hidden);
  if (document.querySelector('.tree')) {
    const all = rows().length;
    const heads = [...document.querySelectorAll('.tree thead button')];
    heads.find((head) => head.textContent === 'Missed').click();
    const missed = rows().map((row) => Number(row.querySelector('.missed').textContent.replaceAll(',', '')));
    answers.push(`sorted:${missed.every((value, at) => at === 0 || missed[at - 1] >= value)}`);
    answers.push(`direction:${document.querySelector('[aria-sort]').getAttribute('aria-sort')}`);
    heads[0].click();
    heads[0].click();
    heads[0].click();
    answers.push(`back:${rows().length === all}`);
    press('/');
    const box = document.activeElement;
    box.value = 'LVM.c';
    box.dispatchEvent(new Event('input'));
    answers.push(
      `found:${rows()
        .map((row) => row.querySelector('a').textContent.split('/').pop())
        .join('+')}`,
    );
    box.value = '';
    box.dispatchEvent(new Event('input'));
    document.querySelector('.finder button').click();
    answers.push(`folded:${rows().length < all}`);
  } else {
    const lines = [];
    for (const key of ['n', 'n', 'n', 'p', 'p']) {
      press(key);
      lines.push(Number(location.hash.slice(2)));
    }
    const [first, second, third, back, begin] = lines;
    answers.push(`steps:${first < second && second < third && back === second && begin === first}`);
    press('b');
    answers.push(`open:${[...document.querySelectorAll('.code details')].every((fold) => fold.open)}`);
    const link = document.querySelector('.code a.tests');
    location.hash = link.closest('tr').id;
    press('w');
    const named = () =>
      [...link.closest('tr').querySelectorAll('.of-line li')].map((name) => name.textContent).join('+');
    const shown = named();
    link.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    answers.push(`tests:${shown}${named()}`);
    press('?');
    answers.push(`keys:${document.querySelectorAll('dialog[open] kbd').length >= 6}`);
    answers.push(`wide:${document.documentElement.scrollWidth <= innerWidth}`);
  }
  press('t');
  answers.push(`theme:${document.documentElement.dataset.theme}`);
  document.documentElement.dataset.answers = answers.join(' ');
});
