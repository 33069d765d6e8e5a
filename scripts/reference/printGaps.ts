/**
 * `npm run docs:reference`: prints each missing description and example of the API reference. `npm run docs:reference
 * -- WORD` prints only the lines that contain the word.
 */
import { openApiDocument } from '../../api/openapi/document.js';
import { type ReferenceDocument, referenceGaps } from './gaps.js';

const [word = ''] = process.argv.slice(2);
const shown = referenceGaps(openApiDocument() as unknown as ReferenceDocument).filter((line) => line.includes(word));
process.stdout.write(`${[...shown, `${shown.length} to do`].join('\n')}\n`);
