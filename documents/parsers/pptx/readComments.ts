import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** Reads the names of the authors of comments by id. The form before 2021 and the newer one have equal attributes. */
export function readAuthors(part: Uint8Array, limits: DocumentLimits): Map<string, string> {
  const authors = new Map<string, string>();
  readXml(part, limits, {
    open(element, { id, name }) {
      if ((element === 'cmAuthor' || element === 'author') && id !== undefined) authors.set(id, oneLine(name ?? ''));
    },
  });
  return authors;
}

/** Returns a slide's comments, as `Comment by Anna: …`, and replies. Reads the form before 2021 and the newer one. */
export function readComments(part: Uint8Array, authors: ReadonlyMap<string, string>, limits: DocumentLimits): string[] {
  const comments: string[] = [];
  /** The open comment, and a reply in it. */
  const open: { author: string; words: string; readonly at: number }[] = [];
  let inText = false;
  readXml(part, limits, {
    open(name, { authorId }) {
      if (name === 'cm' || name === 'reply') {
        // A reply precedes the text of its comment in the file.
        open.push({ author: authors.get(authorId ?? '') ?? '', words: '', at: comments.length });
      } else if (name === 'text' || name === 't') inText = true;
      else if (name === 'p' || name === 'br') {
        const comment = open.at(-1);
        if (comment) comment.words += ' ';
      }
    },
    text(text) {
      const comment = open.at(-1);
      if (inText && comment) comment.words += text;
    },
    close(name) {
      if (name === 'text' || name === 't') inText = false;
      else if (name === 'cm' || name === 'reply') {
        const ended = open.pop();
        if (!ended || oneLine(ended.words) === '') return;
        const by = ended.author === '' ? '' : ` by ${ended.author}`;
        comments.splice(ended.at, 0, `${name === 'cm' ? 'Comment' : 'Reply'}${by}: ${oneLine(ended.words)}`);
      }
    },
  });
  return comments;
}
