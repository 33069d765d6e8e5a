/** Parses the part of Gmail's search language that the connector uses. https://support.google.com/mail/answer/7190 */

/** The properties of a message that a query can match. */
export interface SearchedMail {
  readonly labelIds: readonly string[];
  /** Names of the user labels. */
  readonly labels: readonly string[];
  readonly from: string;
  readonly to: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly hasAttachment: boolean;
}

type Predicate = (mail: SearchedMail) => boolean;
const TOKEN = /\s*(-?[({]|[)}]|-?\w+:(?:"[^"]*"|[^\s(){}"]+))/y;

function tokens(text: string): string[] | null {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (!match) return null;
    found.push(match[1] ?? '');
  }
  return found;
}

/** Normalizes a label name: Gmail treats these characters as equal. */
const normalizeLabel = (name: string): string => name.toLowerCase().replaceAll(/[\s/&(){}|"-]/g, '-');

/** Returns a time in milliseconds: seconds since 1970, or a day's start in California (winter time). */
function timeOf(value: string): number {
  if (/^\d{5,}$/.test(value)) return Number(value) * 1000;
  const [, year, month, day] = /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/.exec(value) ?? [];
  if (year === undefined) throw new SyntaxError(`no date ${value}`);
  return Date.UTC(Number(year), Number(month) - 1, Number(day), 8);
}

const STATES: Readonly<Record<string, string>> = {
  starred: 'STARRED',
  important: 'IMPORTANT',
  snoozed: 'SNOOZED',
  unread: 'UNREAD',
};
const SYSTEM_FOLDERS: Readonly<Record<string, string>> = {
  inbox: 'INBOX',
  sent: 'SENT',
  drafts: 'DRAFT',
  trash: 'TRASH',
  spam: 'SPAM',
};

function condition(key: string, value: string): Predicate {
  const lower = value.toLowerCase();
  const has = (id: string | undefined): Predicate => {
    if (id === undefined) throw new SyntaxError(`no ${key} ${value}`);
    return ({ labelIds }) => labelIds.includes(id);
  };
  switch (key) {
    case 'label':
      return ({ labels, labelIds }) =>
        [...labels, ...labelIds].some((name) => normalizeLabel(name) === normalizeLabel(value));
    case 'category':
      return has(`CATEGORY_${lower === 'primary' ? 'PERSONAL' : lower.toUpperCase()}`);
    case 'after':
      return ({ at }) => at >= timeOf(value);
    case 'before':
      return ({ at }) => at < timeOf(value);
    case 'is':
      return lower === 'read' ? ({ labelIds }) => !labelIds.includes('UNREAD') : has(STATES[lower]);
    case 'in':
      return lower === 'archive'
        ? ({ labelIds }) => !labelIds.some((id) => Object.values(SYSTEM_FOLDERS).includes(id))
        : has(SYSTEM_FOLDERS[lower]);
    case 'from':
      return ({ from }) => from.toLowerCase().includes(lower);
    case 'to':
      return ({ to }) => to.toLowerCase().includes(lower);
    case 'has':
      if (lower === 'attachment') return ({ hasAttachment }) => hasAttachment;
      if (lower === 'nouserlabels') return ({ labels }) => labels.length === 0;
      break;
    default:
  }
  throw new SyntaxError(`no operator ${key}:${value}`);
}

/** Parses a query into a predicate; returns null for an invalid query. */
export function readGmailQuery(text: string): Predicate | null {
  const words = tokens(text);
  if (words === null) return null;
  let at = 0;
  const group = (end: string): Predicate[] => {
    const tests: Predicate[] = [];
    while (at < words.length && words[at] !== end) tests.push(term());
    if (words[at] !== end) throw new SyntaxError(`no ${end}`);
    at += 1;
    return tests;
  };
  const term = (): Predicate => {
    const word = words[at++] ?? '';
    const isNegated = word.startsWith('-');
    const plain = isNegated ? word.slice(1) : word;
    const colon = plain.indexOf(':');
    let test: Predicate;
    if (plain === '(') {
      const tests = group(')');
      test = (mail) => tests.every((inner) => inner(mail));
    } else if (plain === '{') {
      const tests = group('}');
      test = (mail) => tests.some((inner) => inner(mail));
    } else if (colon > 0) test = condition(plain.slice(0, colon), plain.slice(colon + 1).replaceAll('"', ''));
    else throw new SyntaxError(`no term ${plain}`);
    return isNegated ? (mail) => !test(mail) : test;
  };
  try {
    const tests: Predicate[] = [];
    while (at < words.length) tests.push(term());
    return (mail) => tests.every((test) => test(mail));
  } catch {
    return null;
  }
}
