/**
 * Whether an HTML page is an empty shell: almost no text, and scripts that fill it. The check runs for every page, so
 * it must be fast: it stops after the first words of an ordinary page, and takes linear time for any input.
 */
export function isEmptyShell(bytes: Uint8Array): boolean {
  // Ordinary pages have words at their start. The string of a whole page would be most of the cost of the check.
  const start = scan(bytes, FIRST_SCANNED);
  if (start === 'text' || bytes.byteLength <= FIRST_SCANNED) return start === 'shell';
  return scan(bytes, MAX_SCANNED) === 'shell';
}

/** Scans the first bytes of a page. An unfinished tag, script or comment at their end counts as invisible. */
function scan(bytes: Uint8Array, maxBytes: number): 'text' | 'shell' | 'other' {
  // One character per byte: the searched text is ASCII in every charset of HTML except UTF-16, and shells are not
  // UTF-16.
  const html = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, maxBytes)).toString('latin1');
  let hasScript = false;
  let isMeantToBeFilled = false;
  let text = '';
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    text += visible(html, at, open === -1 ? html.length : open);
    if (text.length >= MIN_VISIBLE_CHARACTERS) return 'text';
    if (open === -1) break;
    const name = nameAt(html, open + 1);
    if (name === '') {
      at = afterMarkup(html, open);
      continue;
    }
    const inside = endOfTag(html, open + 1 + name.length);
    const tag = html.slice(open, Math.min(inside, open + MAX_TAG_LENGTH));
    isMeantToBeFilled ||= MOUNT_ELEMENT.test(tag);
    at = inside;
    if (!INVISIBLE.has(name) || tag.endsWith('/>')) continue;
    at = endTag(html, name, inside);
    if (name === 'script') hasScript ||= CODE_SCRIPT.test(tag);
    if (name === 'noscript')
      isMeantToBeFilled ||= JAVASCRIPT_NOTICE.test(html.slice(inside, Math.min(at, inside + MAX_TAG_LENGTH)));
  }
  return hasScript && (isMeantToBeFilled || text === '' || LOADING_TEXT.test(text)) ? 'shell' : 'other';
}

/** Number of characters of the first scan. */
const FIRST_SCANNED = 16 * 1024;
/** Maximum number of scanned characters; text after them is not seen. */
const MAX_SCANNED = 512 * 1024;
/** Number of visible characters, without blanks, from which a page is not a shell. */
const MIN_VISIBLE_CHARACTERS = 200;
const MAX_TAG_LENGTH = 2000;

/** Elements whose content is invisible if scripts run. */
const INVISIBLE: ReadonlySet<string> = new Set([
  'iframe',
  'math',
  'noscript',
  'script',
  'style',
  'svg',
  'template',
  'title',
]);
/** A script element that contains code and not data. */
const CODE_SCRIPT = /^<script(?![^>]*\stype\s*=\s*["']?(?!module|text\/babel|[a-z/+-]*(?:java|ecma)script)[a-z])/i;
/** The elements into which frameworks render. */
const MOUNT_ELEMENT =
  /^<(?:app-root|ion-app)\b|\sid\s*=\s*["']?(?:root|app|application|app-?root|react-(?:root|app)|vue-app|q-app|main-app|spa|svelte|__next|__nuxt|___gatsby)["'\s>]/i;
const JAVASCRIPT_NOTICE = /java\s?script/i;
const LOADING_TEXT = /^[^a-z]*(?:loading|pleasewait|justamoment|onemoment|redirecting)/i;

/** Returns the non-blank characters of a range, at most MIN_VISIBLE_CHARACTERS. */
function visible(html: string, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to && text.length < MIN_VISIBLE_CHARACTERS; at += 1) {
    if (html.charCodeAt(at) > 0x20) text += html[at] ?? '';
  }
  return text;
}

/** Returns the element name of a start tag; '' if it is not one. */
function nameAt(html: string, from: number): string {
  let end = from;
  while (end - from < 30 && isNameCharacter(html.charCodeAt(end), end > from)) end += 1;
  return html.slice(from, end).toLowerCase();
}

function isNameCharacter(code: number, later: boolean): boolean {
  const letter = code | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (later && (code === 0x2d || (code >= 0x30 && code <= 0x39)));
}

/** Returns the position after an end tag, comment or declaration; after the character itself if it begins none. */
function afterMarkup(html: string, open: number): number {
  const next = html[open + 1] ?? '';
  if (!'/!?'.includes(next) || next === '') return open + 1;
  const [closing, from] = html.startsWith('<!--', open) ? ['-->', open + 4] : ['>', open + 2];
  const close = html.indexOf(closing, from);
  return close === -1 ? html.length : close + closing.length;
}

/** Returns the position after the tag's `>`; quoted values may contain that character too. */
function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const character = html[at];
    if (character === '>') return at + 1;
    if ((character === '"' || character === "'") && html[at - 1] === '=') {
      const close = html.indexOf(character, at + 1);
      if (close === -1) return html.length;
      at = close;
    }
  }
  return html.length;
}

/** Returns the start of the element's end tag; the end of the page without one. */
function endTag(html: string, name: string, from: number): number {
  let at = html.indexOf('</', from);
  while (at !== -1 && html.slice(at + 2, at + 2 + name.length).toLowerCase() !== name) at = html.indexOf('</', at + 2);
  return at === -1 ? html.length : at;
}
