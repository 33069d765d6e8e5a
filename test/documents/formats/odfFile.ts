import { strToU8, type Zippable, zipSync } from 'fflate';

export type OdfKind = 'text' | 'spreadsheet' | 'presentation';

const NAMESPACES = ['office', 'style', 'text', 'table', 'drawing', 'presentation', 'meta', 'script', 'form', 'chart']
  .map((name) => `xmlns:${name === 'drawing' ? 'draw' : name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .concat([
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"',
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"',
    'xmlns:dc="http://purl.org/dc/elements/1.1/"',
    'xmlns:xlink="http://www.w3.org/1999/xlink"',
  ])
  .join(' ');

const part = (root: string, content: string): Uint8Array =>
  strToU8(
    `<?xml version="1.0" encoding="UTF-8"?><office:${root} office:version="1.2" ${NAMESPACES}>${content}</office:${root}>`,
  );

export interface OdfParts {
  /** Content of the body, of the automatic styles, of the master styles and of the metadata, as XML. */
  readonly body: string;
  readonly styles?: string;
  readonly master?: string;
  readonly meta?: string;
  /** Entries of the manifest, as XML. */
  readonly manifest?: string;
  /** Contents of objects such as charts by their folder, as XML. */
  readonly objects?: Readonly<Record<string, string>>;
  readonly more?: Zippable;
}

/** Writes an OpenDocument file by hand. */
export function odfFile(
  kind: OdfKind,
  { body, styles = '', master, meta, manifest = '', ...others }: OdfParts,
): Uint8Array {
  const { objects = {}, more = {} } = others;
  const content = (inner: string): string =>
    `<office:automatic-styles>${styles}</office:automatic-styles><office:body>${inner}</office:body>`;
  return zipSync({
    mimetype: [strToU8(`application/vnd.oasis.opendocument.${kind}`), { level: 0 }],
    'content.xml': part('document-content', content(`<office:${kind}>${body}</office:${kind}>`)),
    ...(master === undefined
      ? {}
      : { 'styles.xml': part('document-styles', `<office:master-styles>${master}</office:master-styles>`) }),
    ...(meta === undefined ? {} : { 'meta.xml': part('document-meta', `<office:meta>${meta}</office:meta>`) }),
    ...Object.fromEntries(
      Object.entries(objects).map(([name, xml]) => [`${name}/content.xml`, part('document-content', content(xml))]),
    ),
    // Older programs declare a document type here.
    'META-INF/manifest.xml': strToU8(
      `<?xml version="1.0"?><!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd"><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.${kind}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>${manifest}</manifest:manifest>`,
    ),
    ...more,
  });
}

/**
 * Writes a flat OpenDocument file by hand: the same parts as one XML document. Each object is written in place of its
 * reference, followed by a picture of the object, as LibreOffice does.
 */
export function flatFile(kind: OdfKind, { body, styles = '', master = '', meta = '', objects = {} }: OdfParts): string {
  const document = (inner: string, attributes = ''): string =>
    `<office:document office:version="1.3" ${NAMESPACES}${attributes}>${inner}</office:document>`;
  const filled = body.replaceAll(/<draw:object xlink:href="\.\/([^"]*)"\/>/g, (_reference, name: string) => {
    const chart = document(`<office:body>${objects[name] ?? ''}</office:body>`);
    return `<draw:object>\n ${chart}\n</draw:object>\n<draw:image draw:mime-type="image/png"><office:binary-data>iVBORw0K</office:binary-data></draw:image>`;
  });
  const parts = `<office:meta>${meta}</office:meta><office:automatic-styles>${styles}</office:automatic-styles><office:master-styles>${master}</office:master-styles><office:body><office:${kind}>${filled}</office:${kind}></office:body>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document(parts, ` office:mimetype="application/vnd.oasis.opendocument.${kind}"`)}`;
}

/** The manifest's entry of an encrypted part. */
export const encryptedEntry = (name: string): string =>
  `<manifest:file-entry manifest:full-path="${name}" manifest:media-type="text/xml"><manifest:encryption-data><manifest:algorithm manifest:algorithm-name="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/></manifest:encryption-data></manifest:file-entry>`;
