/**
 * Parses the part of Drive's query language that the connector uses.
 * https://developers.google.com/workspace/drive/api/guides/ref-search-terms
 */

/** The properties of a file that a query can match. */
export interface Searched {
  readonly parents: readonly string[];
  readonly trashed: boolean;
  readonly sharedWithMe: boolean;
}

type Test = (file: Searched) => boolean;
const TOKEN = /\s*(\(|\)|'(?:[^'\\]|\\.)*'|!=|=|[A-Za-z]+)/y;

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

/** Parses a query into a predicate; returns null for an invalid query. */
export function readDriveQuery(text: string): Test | null {
  const words = tokens(text);
  if (words === null) return null;
  let at = 0;
  const next = (): string => words[at++] ?? '';
  const term = (): Test => {
    const word = next();
    if (word === '(') {
      const inner = disjunction();
      if (next() !== ')') throw new SyntaxError('no closing parenthesis');
      return inner;
    }
    if (word === 'not') {
      const inner = term();
      return (file) => !inner(file);
    }
    if (word.startsWith("'")) {
      const id = word.slice(1, -1).replaceAll(/\\(.)/g, '$1');
      if (next() !== 'in' || next() !== 'parents') throw new SyntaxError('only parents are searched');
      return (file) => file.parents.includes(id);
    }
    if (word !== 'trashed' && word !== 'sharedWithMe') throw new SyntaxError(`no term ${word}`);
    const sign = next();
    const value = next();
    if ((sign !== '=' && sign !== '!=') || !/^(true|false)$/.test(value)) throw new SyntaxError('no comparison');
    return (file) => (file[word] === (value === 'true')) === (sign === '=');
  };
  const conjunction = (): Test => {
    let test = term();
    while (words[at] === 'and') {
      at += 1;
      const [left, right] = [test, term()];
      test = (file) => left(file) && right(file);
    }
    return test;
  };
  const disjunction = (): Test => {
    let test = conjunction();
    while (words[at] === 'or') {
      at += 1;
      const [left, right] = [test, conjunction()];
      test = (file) => left(file) || right(file);
    }
    return test;
  };
  try {
    const test = disjunction();
    return at === words.length ? test : null;
  } catch {
    return null;
  }
}
