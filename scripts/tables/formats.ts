import { FILE_FORMATS, type FileFormatRow } from '../../contract/files/fileFormats.js';
import { EMBEDDING_MODELS, type EmbeddingModelRow } from '../../contract/vectors/embeddingModels.js';

const code = (text: string): string => `\`${text}\``;

/** Returns the table of formats: extensions, first media type, `source` of such files, and kind. */
export function formatTable(): string {
  const rows = Object.entries(FILE_FORMATS).map(([format, row]: [string, FileFormatRow]) => {
    const sources = [...new Set(Object.values(row.extensions))];
    const cells = [
      code(format),
      Object.keys(row.extensions)
        .map((extension) => code(`.${extension}`))
        .join(' '),
    ];
    return `| ${[...cells, code(row.mimeTypes[0]), sources.map(code).join(', '), row.kind].join(' | ')} |`;
  });
  return ['| `file_format` | extensions | media type | `source` | kind |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** Returns the table of embedding models. */
export function modelTable(): string {
  const rows = Object.entries(EMBEDDING_MODELS).map(
    ([id, { provider, upstream, dimensions }]: [string, EmbeddingModelRow]) =>
      `| ${code(id)} | ${provider} | ${code(upstream)} | ${dimensions.toLocaleString('en')} |`,
  );
  return ['| `embedding_model` | provider | model | dimensions |', '|---|---|---|---|', ...rows].join('\n');
}
