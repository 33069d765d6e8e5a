import { type CommentedText, commentText } from '../../office/commentedText.js';
import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** Returns the comments of a document as `Comment by Anna on "text": …`, in the order of the file. */
export function readComments(part: Uint8Array, commented: CommentedText, limits: DocumentLimits): string[] {
  const comments: string[] = [];
  let [id, author, words, inText] = ['', '', '', false];
  readXml(part, limits, {
    open(name, attributes) {
      if (name === 'comment') [id, author, words] = [attributes['id'] ?? '', attributes['author'] ?? '', ''];
      else if (name === 't') inText = true;
      else if (name === 'p' || name === 'br' || name === 'tab') words += ' ';
    },
    text(text) {
      if (inText) words += text;
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'comment' && oneLine(words) !== '') {
        comments.push(commentText(author, commented.quoteOf(id), words));
      }
    },
  });
  return comments;
}
