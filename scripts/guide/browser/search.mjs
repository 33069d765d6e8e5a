/** The search of the guide: an index of the sections of all pages, in the browser. Queries are not sent to a server. */
import MiniSearch from 'minisearch';

const SHOWN = 12;
const AROUND = 70;

/** Splits identifiers at underscores and capitals too, and keeps them whole: RATE_LIMIT_USER, openSearch. */
const terms = (text) =>
  text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    const parts = word.split(/_|(?<=\p{Ll})(?=\p{Lu})/u);
    return parts.length > 1 ? [word, ...parts] : [word];
  });

async function readIndex(base) {
  const answer = await fetch(new URL('search.json', base));
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const sections = await answer.json();
  const index = new MiniSearch({
    fields: ['page', 'heading', 'text'],
    tokenize: terms,
    searchOptions: {
      boost: { page: 3, heading: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
    },
  });
  index.addAll(sections.map(([, page, heading, text], id) => ({ id, page, heading, text })));
  return { sections, index };
}

/** Returns a paragraph around the first match, with every match marked. */
function excerpt(text, words) {
  const pattern = new RegExp(words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'giu');
  const first = words.length > 0 ? Math.max(0, text.search(pattern)) : 0;
  const begin = Math.max(0, text.lastIndexOf(' ', Math.max(0, first - AROUND)));
  const piece = text.slice(begin, begin + 3 * AROUND);
  const paragraph = document.createElement('p');
  paragraph.append(begin > 0 ? '… ' : '');
  let at = 0;
  for (const match of words.length > 0 ? piece.matchAll(pattern) : []) {
    paragraph.append(piece.slice(at, match.index));
    paragraph.append(Object.assign(document.createElement('mark'), { textContent: match[0] }));
    at = match.index + match[0].length;
  }
  paragraph.append(piece.slice(at), begin + piece.length < text.length ? ' …' : '');
  return paragraph;
}

/** @param base address of the guide's root */
export function openSearch(base) {
  const dialog = document.querySelector('dialog');
  const input = dialog.querySelector('input');
  const list = dialog.querySelector('ol');
  const hint = dialog.querySelector('.hint');
  let loading;

  const show = ({ sections, index }) => {
    const query = input.value.trim();
    const found = query === '' ? [] : index.search(query);
    // Sections with all words come first, then sections with some of the words.
    const known = new Set(found.map(({ id }) => id));
    const some = query === '' || found.length >= SHOWN ? [] : index.search(query, { combineWith: 'OR' });
    const best = [...found, ...some.filter(({ id }) => !known.has(id))];
    list.replaceChildren(
      ...best.slice(0, SHOWN).map(({ id, match }) => {
        const [address, page, heading, text] = sections[id];
        const link = Object.assign(document.createElement('a'), { href: new URL(address, base).href });
        const title = Object.assign(document.createElement('strong'), { textContent: heading || page });
        link.append(title, heading ? Object.assign(document.createElement('small'), { textContent: page }) : '');
        link.append(excerpt(text, Object.keys(match)));
        const item = document.createElement('li');
        item.append(link);
        return item;
      }),
    );
    hint.textContent =
      query === ''
        ? 'Type a word, a setting or an operation.'
        : best.length === 0
          ? `No section matches “${query}”.`
          : '';
  };
  const update = async () => {
    loading ??= readIndex(base);
    try {
      show(await loading);
    } catch (error) {
      loading = undefined;
      hint.textContent = `The index could not be loaded: ${error.message}.`;
    }
  };

  input.addEventListener('input', () => void update());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog || event.target.closest('a')) dialog.close();
  });
  dialog.addEventListener('keydown', (event) => {
    // By default, Escape only clears the search field.
    if (event.key === 'Escape') dialog.close();
    if (!['ArrowDown', 'ArrowUp', 'Enter'].includes(event.key)) return;
    const links = [...list.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    if (event.key === 'Enter' && at >= 0) return;
    event.preventDefault();
    if (event.key === 'Enter') links[0]?.click();
    else if (event.key === 'ArrowUp' && at <= 0) input.focus();
    else links[event.key === 'ArrowDown' ? Math.min(at + 1, links.length - 1) : at - 1]?.focus();
  });
  return {
    open() {
      if (!dialog.open) dialog.showModal();
      input.select();
      void update();
    },
  };
}
