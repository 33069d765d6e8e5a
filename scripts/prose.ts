/**
 * Wording that the project avoids (CONTRIBUTING.md, Checks), and its detection in comments, sentences and Markdown.
 */
import ts from 'typescript';

/** One avoided wording, and what to write instead. */
interface Wording {
  readonly pattern: RegExp;
  readonly advice: string;
}

/**
 * Homemade, archaic or personifying wording. Each pattern is narrow enough to have no legitimate use in this project.
 */
const WORDINGS: readonly Wording[] = [
  { pattern: /\b(?:somebody|nobody|whoever|whosoever)\b/i, advice: 'name the actor: the user, the caller, the worker' },
  {
    pattern: /\b(?:(?:is|are|was|were|be|been|being) told|tells? (?:of|again)|told of)\b/i,
    advice: 'notify, report, emit, log',
  },
  { pattern: /\b(?:goes|went|gone|going) on\b|\blets? go\b|\bletting go\b/i, advice: 'continue; release' },
  {
    pattern:
      /\b(?:lies|lay) (?:in|at|beside|below|on|apart)\b|\bstands? (?:in for|for it|elsewhere|there|still|beside)\b|\bstood (?:in|still)\b/i,
    advice: 'is stored, is, waits, replaces',
  },
  { pattern: /\b(?:that|which) there (?:is|are|was|were)\b/i, advice: 'existing, available' },
  {
    pattern: /(?:^|[.;:] )(?:Who|Whose|What) (?:is|was|are|were|has|had|came|lies|stands|vanished|it|they)\b(?!.*\?)/,
    advice: 'begin with the actor or the object, not with a clause',
  },
  {
    pattern: /\b(?:of|for|in|by|from|than|with|at) what (?:was|were|has|had|came|lies|stands)\b/i,
    advice: 'name the thing: the stored chunks, the previous answer',
  },
  {
    pattern:
      /\b(?:for want of|amid|anew|hence|thereby|hitherto|in vain|makes up for|whereby|therein|thereof|by turns|save (?:that|where|for)|such as have)\b/i,
    advice: 'plain words: without, again, so, except, alternately',
  },
  {
    pattern: /\b(?:put aside|broken off|breaks? off|(?:has|had|have) back|to be had|in motion|taken for)\b/i,
    advice: 'deferred, aborted, restored, available, running, treated as',
  },
  {
    pattern: /\bbeside\b(?!s)|\bby then\b|\bany more\b/i,
    advice: 'next to, in addition to, while; at that time; longer',
  },
  {
    pattern:
      /\b(?:row|run|source|feed|event|worker|store|listing|setting|record) (?:knows?|knew|hears?|heard|says|said|takes? note|forgets?|minds?)\b/i,
    advice: 'code stores, receives, checks, states, ignores',
  },
  {
    pattern: /\b(?:come|comes|came|coming) to (?:an|its|their|no|a proper|the) end\b/i,
    advice: 'ends, finishes',
  },
];

/** A piece of prose, and the line of the file on which it begins (from 1). */
export interface Prose {
  readonly line: number;
  readonly text: string;
}

/** Matches text with at least three words; shorter string literals are identifiers or labels. */
const SENTENCE = /[A-Za-z]{2,} [A-Za-z]+ [A-Za-z]+/;

/** Returns the comments of a TypeScript file, and its string literals that contain a sentence. */
export function proseOfSource(source: string): Prose[] {
  const file = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest);
  const found: Prose[] = [];
  const add = (from: number, text: string): void => {
    const { line } = file.getLineAndCharacterOfPosition(from);
    for (const [index, part] of text.split('\n').entries()) found.push({ line: line + index + 1, text: part });
  };
  const seen = new Set<number>();
  // Visits tokens too, because a comment may precede a closing brace.
  const visit = (node: ts.Node): void => {
    const comments = [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ];
    for (const { pos, end } of comments)
      if (!seen.has(pos)) {
        seen.add(pos);
        add(pos, source.slice(pos, end));
      }
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      if (SENTENCE.test(node.text)) add(node.getStart(file), node.text);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return found.toSorted((a, b) => a.line - b.line);
}

/** Returns the lines of a Markdown file without its code. */
export function proseOfMarkdown(source: string): Prose[] {
  let isCode = false;
  return source.split('\n').flatMap((text, index) => {
    if (text.startsWith('```')) isCode = !isCode;
    return isCode ? [] : [{ line: index + 1, text: text.replaceAll(/`[^`]*`/g, '') }];
  });
}

/** Returns avoided wordings, at most one per pattern and line: the line, the words, and what to write instead. */
export function avoidedWordings(prose: readonly Prose[]): { line: number; words: string; advice: string }[] {
  return prose.flatMap(({ line, text }) =>
    WORDINGS.flatMap(({ pattern, advice }) => {
      const [words] = pattern.exec(text) ?? [];
      return words === undefined ? [] : [{ line, words, advice }];
    }),
  );
}
