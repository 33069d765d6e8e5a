import { strToU8, type Zippable, zipSync } from 'fflate';

/** Builds an Office file of one part, and `more` as further archive members. `level` 0 stores them uncompressed. */
export function officeFile(main: string, xml: string, more: Zippable = {}, level: 0 | 6 = 6): Uint8Array {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
  return zipSync(
    {
      '[Content_Types].xml': strToU8('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'),
      '_rels/.rels': strToU8(
        `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${type}" Target="${main}"/></Relationships>`,
      ),
      [main]: strToU8(`<?xml version="1.0" encoding="UTF-8"?>${xml}`),
      ...more,
    },
    { level },
  );
}
