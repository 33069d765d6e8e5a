/** Scripts of the guide's pages: theme, contents on small screens, tabs, copying of code, and the search. */
import { openSearch } from './search.mjs';

const root = document.documentElement;
const one = (selector) => document.querySelector(selector);

function switchTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try {
    localStorage.setItem('guide-theme', root.dataset.theme);
  } catch {
    // The choice lasts as long as the page.
  }
}

/** Shows one block of code of each group. A choice applies to all groups that have it. */
function showTabs() {
  const groups = [...document.querySelectorAll('.tabs')].map((group) => ({
    blocks: [...group.querySelectorAll('.code')],
    list: Object.assign(document.createElement('div'), { className: 'tablist' }),
    group,
  }));
  const choose = (label) => {
    for (const { blocks, list } of groups) {
      if (!blocks.some((block) => block.dataset.label === label)) continue;
      for (const block of blocks) block.hidden = block.dataset.label !== label;
      for (const tab of list.children) tab.setAttribute('aria-selected', String(tab.textContent === label));
    }
  };
  for (const { blocks, list, group } of groups) {
    list.setAttribute('role', 'tablist');
    for (const block of blocks) {
      const tab = Object.assign(document.createElement('button'), { type: 'button', textContent: block.dataset.label });
      tab.setAttribute('role', 'tab');
      tab.addEventListener('click', () => choose(block.dataset.label));
      block.setAttribute('role', 'tabpanel');
      list.append(tab);
    }
    group.prepend(list);
    group.classList.add('live');
  }
  for (const { blocks } of groups) choose(blocks[0].dataset.label);
}

function addCopyButtons() {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll('.code')) {
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      className: 'copy',
      textContent: 'Copy',
    });
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(block.querySelector('code').textContent).then(() => {
        button.textContent = 'Copied';
        setTimeout(() => (button.textContent = 'Copy'), 1500);
      });
    });
    block.append(button);
  }
}

/** Marks the section of the outline that is at the top of the window. */
function followOutline() {
  const links = new Map([...document.querySelectorAll('aside a')].map((link) => [link.hash.slice(1), link]));
  if (links.size === 0) return;
  const headings = [...document.querySelectorAll('article h2, article h3')];
  const mark = () => {
    const current = headings.findLast((heading) => heading.getBoundingClientRect().top < 120) ?? headings[0];
    for (const [id, link] of links) link.classList.toggle('current', id === current?.id);
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

const theme = one('.theme');
theme.hidden = false;
theme.addEventListener('click', switchTheme);

one('.menu').addEventListener('click', (event) => {
  event.preventDefault();
  root.classList.toggle('menu-open');
});
one('#contents').addEventListener('click', (event) => {
  if (event.target.closest('a')) root.classList.remove('menu-open');
});
one('#contents [aria-current]')?.scrollIntoView({ block: 'center' });
scrollTo({ top: location.hash ? scrollY : 0 });

const search = openSearch(new URL('..', import.meta.url));
const button = one('button.search');
button.hidden = false;
button.addEventListener('click', () => search.open());
addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, textarea, dialog');
  if ((event.key === '/' && !typing) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    search.open();
  }
});

showTabs();
addCopyButtons();
followOutline();
