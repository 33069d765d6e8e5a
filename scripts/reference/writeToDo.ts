/**
 * `npm run docs:reference`: writes the list of missing explanations in the API reference to
 * test/api/referenceToDo.json, and prints it. `npm run docs:reference -- WORD` prints only the lines that contain the
 * word, and writes nothing.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { openApiDocument } from '../../api/openapi/document.js';
import { type ReferenceDocument, referenceGaps } from './gaps.js';

const FILE = fileURLToPath(new URL('../../test/api/referenceToDo.json', import.meta.url));

const [word] = process.argv.slice(2);
const gaps = referenceGaps(openApiDocument() as unknown as ReferenceDocument);
const shown = word === undefined ? gaps : gaps.filter((line) => line.includes(word));
if (word === undefined) await writeFile(FILE, `${JSON.stringify(gaps, null, 2)}\n`);
process.stdout.write(`${[...shown, `${shown.length} to do`].join('\n')}\n`);
