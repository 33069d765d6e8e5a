import type { Package } from '../../office/openPackage.js';
import { readFigures } from '../../office/readFigures.js';
import { readShapes } from '../../office/readShapes.js';
import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** Returns the text boxes, charts and comments of a sheet as blocks. */
export async function readNotes(
  file: Package,
  sheet: string,
  people: ReadonlyMap<string, string>,
  limits: DocumentLimits,
): Promise<string[]> {
  const { archive } = file;
  const relations = [...(await file.relationsOf(sheet)).values()].filter(
    ({ external, target }) => !external && archive.has(target),
  );
  const blocks: string[] = [];
  const comments: Comment[] = [];
  for (const { type, target } of relations) {
    if (type === 'drawing') {
      blocks.push(...readShapes(await archive.read(target), limits).blocks);
      blocks.push(...[...(await readFigures(file, target, limits)).values()].flat());
    } else if (type === 'comments' || type === 'threadedComment')
      comments.push(...readComments(await archive.read(target), people, limits));
  }
  // A thread is also stored as one comment without replies, for programs that do not support threads.
  const shown = comments.filter(({ author }) => !author.startsWith('tc='));
  return [...blocks, ...shown.map(commentText)];
}

interface Comment {
  readonly cell: string;
  readonly author: string;
  readonly text: string;
}

const commentText = ({ cell, author, text }: Comment): string =>
  `Comment${author === '' ? '' : ` by ${author}`}${cell === '' ? '' : ` on ${cell}`}: ${text}`;

function readComments(part: Uint8Array, people: ReadonlyMap<string, string>, limits: DocumentLimits): Comment[] {
  const authors: string[] = [];
  const comments: Comment[] = [];
  let [cell, author, text, words] = ['', '', '', ''];
  readXml(part, limits, {
    open(name, { ref, authorId, personId }) {
      words = '';
      if (name !== 'comment' && name !== 'threadedComment') return;
      [cell, text] = [ref ?? '', ''];
      author = personId === undefined ? (authors[Number(authorId)] ?? '') : (people.get(personId) ?? '');
    },
    text(more) {
      words += more;
    },
    close(name) {
      // A comment's text is in runs (t), a thread's directly in its element.
      if (name === 't' || name === 'text') text += words;
      else if (name === 'author') authors.push(oneLine(words));
      else if ((name === 'comment' || name === 'threadedComment') && oneLine(text) !== '')
        comments.push({ cell, author, text: oneLine(text) });
      words = '';
    },
  });
  return comments;
}

/** Reads the names of the authors of threads by id. */
export function readPeople(part: Uint8Array, limits: DocumentLimits): Map<string, string> {
  const people = new Map<string, string>();
  readXml(part, limits, {
    open(element, { id, displayName }) {
      if (element === 'person' && id !== undefined) people.set(id, oneLine(displayName ?? ''));
    },
  });
  return people;
}
