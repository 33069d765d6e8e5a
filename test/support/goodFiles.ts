import { Document, Packer, Paragraph } from 'docx';
import ExcelJS from 'exceljs';
import PptxGenJs from 'pptxgenjs';

import { makeMsg } from '../documents/formats/makeMsg.js';
import { makePdf } from '../documents/formats/makePdf.js';
import type { NamedFile } from './client.js';

/** A small valid file, and words that its text contains. */
export interface GoodFile extends NamedFile {
  readonly words: string;
}

// The package's types declare a namespace, but Node's import is the class itself.
const Show = PptxGenJs as unknown as typeof PptxGenJs.default;

async function workbook(words: string): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  book.addWorksheet('Boats').addRows([
    ['Boat', 'Remark'],
    ['Ada', words],
  ]);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

async function slides(words: string): Promise<Uint8Array> {
  const show = new Show();
  show.addSlide().addText(words, { x: 1, y: 1 });
  return (await show.write({ outputType: 'uint8array' })) as Uint8Array;
}

const letter = async (words: string): Promise<Uint8Array> =>
  Uint8Array.from(await Packer.toBuffer(new Document({ sections: [{ children: [new Paragraph(words)] }] })));

const FACTORIES: Readonly<Record<string, (words: string) => string | Uint8Array | Promise<Uint8Array>>> = {
  txt: (words) => `A note.\n\n${words}\n`,
  md: (words) => `# A note\n\n${words}\n`,
  html: (words) => `<!doctype html><html><body><main><h1>A note</h1><p>${words}</p></main></body></html>`,
  csv: (words) => `boat,remark\nAda,${words}\nBo,none\n`,
  tsv: (words) => `boat\tremark\nAda\t${words}\nBo\tnone\n`,
  json: (words) => JSON.stringify([{ boat: 'Ada', remark: words }]),
  rtf: (words) => `{\\rtf1\\ansi ${words}}`,
  eml: (words) => `From: a@example.com\r\nTo: b@example.com\r\nSubject: A note\r\n\r\n${words}\r\n`,
  msg: (words) => makeMsg({ subject: 'A note', body: words }),
  pdf: (words) => makePdf((pdf) => pdf.text(words)),
  docx: letter,
  xlsx: workbook,
  pptx: slides,
};

/** Returns `count` files with different texts, whose formats repeat in the order of FACTORIES. */
export async function goodFiles(count: number): Promise<GoodFile[]> {
  const makers = Object.entries(FACTORIES);
  return Promise.all(
    Array.from({ length: count }, async (_, nth) => {
      const [ending, make] = makers[nth % makers.length]!;
      const words = `Boat number ${nth} is moored in the harbour.`;
      return { name: `good-${nth}.${ending}`, content: await make(words), words };
    }),
  );
}
