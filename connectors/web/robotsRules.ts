/** The rules of a robots.txt for one crawler (RFC 9309). Pure functions. */
export interface RobotsRules {
  /** `path`: path and query of a URL. */
  allows(path: string): boolean;
  readonly crawlDelaySeconds: number | null;
}

interface Group {
  readonly rules: { readonly pattern: Pattern; readonly allow: boolean }[];
  crawlDelaySeconds: number | null;
}

/** Literal parts between the asterisks; `anchored`: the pattern ends with $. */
interface Pattern {
  readonly parts: readonly string[];
  readonly anchored: boolean;
  readonly length: number;
}

/**
 * Parses a robots.txt for one product token. Groups that name the token are merged; without one, those for * apply.
 * It replaces robots-parser 3.0.1, which lets a Sitemap line end a group (against section 2.2.4), does not decode
 * unreserved characters (2.2.2), and takes seconds per URL for patterns with many asterisks.
 */
export function parseRobots(text: string, productToken: string): RobotsRules {
  const ownGroup: Group = { rules: [], crawlDelaySeconds: null };
  const everyone: Group = { rules: [], crawlDelaySeconds: null };
  let isNamed = false;
  let current: Group[] = [];
  let namingAgents = false;

  for (const line of text.split(/\r\n|\r|\n/)) {
    const { key, value } = parseLine(line.slice(0, MAX_LINE));
    switch (key) {
      case 'user-agent': {
        if (!namingAgents) current = [];
        namingAgents = true;
        if (value.startsWith('*')) current.push(everyone);
        else if (productToken !== '' && productTokenOf(value) === productToken) {
          isNamed = true;
          current.push(ownGroup);
        }
        break;
      }
      case 'allow':
      case 'disallow': {
        namingAgents = false;
        const pattern = value === '' ? null : parsePattern(value);
        if (pattern) for (const group of current) group.rules.push({ pattern, allow: key === 'allow' });
        break;
      }
      case 'crawl-delay': {
        // Crawl-delay is not part of the RFC, but we observe it, so it is a rule and ends the list of agents. Many
        // files contain `User-agent: *`, `Crawl-delay: 10`, `User-agent: bad`, `Disallow: /`: if the delay did not end
        // the list, both agents would form one group, and the Disallow would apply to all crawlers.
        namingAgents = false;
        const delay = value === '' ? NaN : Number(value);
        if (Number.isFinite(delay) && delay >= 0) for (const group of current) group.crawlDelaySeconds = delay;
        break;
      }
      default:
    }
  }

  const { rules, crawlDelaySeconds } = isNamed ? ownGroup : everyone;
  return {
    crawlDelaySeconds,
    allows: (path) =>
      path === '/robots.txt' || isAllowed(rules, normalise(path).replaceAll('*', '%2A').replaceAll('$', '%24')),
  };
}

/** Returns the product token of a user agent in lower case: its leading letters, hyphens and underscores. */
export function productTokenOf(userAgent: string): string {
  return /^[a-z_-]*/i.exec(userAgent)?.[0].toLowerCase() ?? '';
}

/** Maximum line length: longer lines contain no real path, and the limit makes a hostile file cheap. */
const MAX_LINE = 8192;

/** Parses a line with a split: a regular expression would take quadratic time on a line of blanks. */
function parseLine(line: string): { key: string; value: string } {
  const rule = line.split('#', 1)[0] ?? '';
  const colon = rule.indexOf(':');
  return colon === -1
    ? { key: '', value: '' }
    : { key: rule.slice(0, colon).trim().toLowerCase(), value: rule.slice(colon + 1).trim() };
}

/** Applies the longest matching rule; of two equally long ones, the one that allows. */
function isAllowed(rules: Group['rules'], path: string): boolean {
  let best = { length: -1, allow: true };
  for (const { pattern, allow } of rules) {
    if (pattern.length < best.length || (pattern.length === best.length && !allow)) continue;
    if (matches(pattern, path)) best = { length: pattern.length, allow };
  }
  return best.allow;
}

function parsePattern(value: string): Pattern {
  const anchored = value.endsWith('$');
  const withSlash = /^[/*]/.test(value) ? value : `/${value}`;
  const plain = normalise(anchored ? withSlash.slice(0, -1) : withSlash)
    .replaceAll('$', '%24')
    .replace(/\*+/g, '*');
  return { parts: plain.split('*'), anchored, length: plain.length + (anchored ? 1 : 0) };
}

/** Finds each part after the previous one. Without backtracking no pattern is slow. */
function matches({ parts, anchored }: Pattern, path: string): boolean {
  const [first = '', ...rest] = parts;
  if (!path.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return !anchored || path.length === first.length;
  let at = first.length;
  for (const part of rest) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return anchored ? path.length - last.length >= at && path.endsWith(last) : path.indexOf(last, at) !== -1;
}

/** Normalises the percent-encoding: unreserved characters are decoded, all others encoded in upper case. */
function normalise(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, (characters) =>
      [...Buffer.from(characters)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    )
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return /[\w.~-]/.test(character) ? character : code.toUpperCase();
    });
}
