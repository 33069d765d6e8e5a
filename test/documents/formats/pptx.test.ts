import { strToU8 } from 'fflate';
import { encrypt } from 'officecrypto-tool';
import PptxGenJs from 'pptxgenjs';
import { expect, test } from '@jest/globals';
import { chunksOfFile, faultOfFile, readFile } from '../readFile.js';
import { officeFile } from './officeFile.js';

// In the package's types the class is `PptxGenJs.default`; in Node the import itself is the class.
const Show = PptxGenJs as unknown as typeof PptxGenJs.default;

async function makePptx(draw: (show: InstanceType<typeof Show>) => void): Promise<Uint8Array> {
  const show = new Show();
  show.title = 'Harbour';
  show.author = 'Anna Keller';
  draw(show);
  const bytes = await show.write({ outputType: 'uint8array' });
  return bytes as Uint8Array;
}

test('reads slides with their points, tables and notes', async () => {
  const bytes = await makePptx((show) => {
    const first = show.addSlide();
    first.addText(
      [
        { text: 'Moor at the quay', options: { bullet: true, breakLine: true } },
        { text: 'Pay at the office', options: { bullet: true } },
      ],
      { x: 1, y: 1 },
    );
    first.addTable([
      [{ text: 'Boat' }, { text: 'Fee' }],
      [{ text: 'Small' }, { text: '10' }],
    ]);
    first.addNotes('Say hello first.');
    show.addSlide();
    show.addSlide().addText('The end', { x: 1, y: 1 });
  });
  const document = await readFile(bytes, 'harbour.pptx');
  expect(document.text).toBe(
    '# Slide 1\n\n- Moor at the quay\n- Pay at the office\n\n| Boat | Fee |\n| --- | --- |\n| Small | 10 |\n\nNotes: Say hello first.\n\n# Slide 3\n\nThe end',
  );
  expect(document).toMatchObject({ format: 'PPTX', metadata: { title: 'Harbour', author: 'Anna Keller', slides: 3 } });
  expect(await chunksOfFile(bytes, 'harbour.pptx', { chunkSize: 40, chunkOverlap: 0 })).toEqual([
    '# Slide 1\n\n- Moor at the quay\n- Pay at the office\n\n| Boat | Fee |\n| --- | --- |\n| Small | 10 |\n\nNotes: Say hello first.',
    '# Slide 3\n\nThe end',
  ]);
});

const rels = (...targets: readonly (readonly [string, string])[]): Uint8Array =>
  strToU8(
    `<Relationships>${targets.map(([type, target], nth) => `<Relationship Id="rId${nth + 1}" Type="http://x/${type}" Target="${target}"/>`).join('')}</Relationships>`,
  );
const shape = (place: string | null, ...lines: string[]): string =>
  `<p:sp><p:nvSpPr><p:nvPr>${place === null ? '' : `<p:ph type="${place}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`;

test('reads titles as headings and slides in presentation order, without their numbers and dates', async () => {
  const bytes = officeFile(
    'ppt/presentation.xml',
    '<p:presentation><p:sldIdLst><p:sldId id="257" r:id="rId2"/><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>',
    {
      'ppt/_rels/presentation.xml.rels': rels(['slide', 'slides/slide1.xml'], ['slide', 'slides/slide2.xml']),
      'ppt/slides/slide1.xml': strToU8(
        `<p:sld>${shape('title', 'Second')}${shape('body', 'A &amp; B')}${shape('sldNum', '2')}</p:sld>`,
      ),
      'ppt/slides/slide2.xml': strToU8(
        `<p:sld>${shape('ctrTitle', 'The', 'first')}${shape('subTitle', 'A subtitle')}${shape('dt', '1.1.2024')}</p:sld>`,
      ),
    },
  );
  expect((await readFile(bytes, 'a.pptx')).text).toBe('# The first\n\nA subtitle\n\n# Second\n\n- A & B');
});

test('reads charts as tables and diagrams as points', async () => {
  const bytes = await makePptx((show) => {
    const slide = show.addSlide();
    slide.addText('Calls in 2024', { x: 1, y: 0.2 });
    const labels = ['First', 'Second'];
    slide.addChart(
      'bar' as Parameters<typeof slide.addChart>[0],
      [
        { name: 'Fishing', labels, values: [148, 171] },
        { name: 'Pleasure', labels, values: [31, 164.5] },
      ],
      {
        x: 1,
        y: 1,
        w: 6,
        h: 3,
        showTitle: true,
        title: 'Calls by quarter',
        showCatAxisTitle: true,
        catAxisTitle: 'Quarter',
      },
    );
  });
  expect((await readFile(bytes, 'a.pptx')).text).toBe(
    '# Slide 1\n\nCalls in 2024\n\nCalls by quarter\n\n|  | Fishing | Pleasure |\n| --- | --- | --- |\n| First | 148 | 31 |\n| Second | 171 | 164.5 |',
  );
  const drawing = officeFile(
    'ppt/presentation.xml',
    '<p:presentation><p:sldIdLst><p:sldId r:id="rId1"/></p:sldIdLst></p:presentation>',
    {
      'ppt/_rels/presentation.xml.rels': rels(['slide', 'slides/slide1.xml']),
      'ppt/slides/_rels/slide1.xml.rels': rels(['diagramData', '../diagrams/data1.xml']),
      'ppt/slides/slide1.xml': strToU8(`<p:sld>${shape('title', 'How')}</p:sld>`),
      'ppt/diagrams/data1.xml': strToU8(
        '<dgm:dataModel><dgm:ptLst><dgm:pt type="doc"/><dgm:pt><dgm:t><a:p><a:r><a:t>Survey </a:t></a:r><a:r><a:t>it</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Dredge</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>',
      ),
    },
  );
  expect((await readFile(drawing, 'a.pptx')).text).toBe('# How\n\n- Survey it\n- Dredge');
});

test('reads a group of shapes with a field and a line break', async () => {
  const bytes = officeFile(
    'ppt/presentation.xml',
    '<p:presentation><p:sldIdLst><p:sldId r:id="rId1"/></p:sldIdLst></p:presentation>',
    {
      'ppt/_rels/presentation.xml.rels': rels(['slide', '/ppt/slides/slide1.xml']),
      'ppt/slides/slide1.xml': strToU8(
        '<p:sld><p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>One</a:t></a:r><a:br/><a:fld><a:t>two</a:t></a:fld></a:p></p:txBody></p:sp></p:grpSp></p:sld>',
      ),
    },
  );
  expect((await readFile(bytes, 'a.pptx')).text).toBe('# Slide 1\n\nOne two');
});

test('reports encrypted, broken, empty and too long files, and the format of a wrongly named one', async () => {
  const bytes = await makePptx((show) => void show.addSlide().addText('Words', { x: 1, y: 1 }));
  expect(await faultOfFile(Uint8Array.from(encrypt(Buffer.from(bytes), { password: 'x' })), 'a.pptx')).toMatch(
    /^encrypted: /,
  );
  expect(await faultOfFile(bytes.subarray(0, 9000), 'a.pptx')).toMatch(/^broken_content: /);
  expect(await faultOfFile(await makePptx((show) => void show.addSlide()), 'a.pptx')).toMatch(/^no_text: /);
  const long = await makePptx((show) => {
    for (let nth = 0; nth < 4; nth++) show.addSlide();
  });
  expect(await faultOfFile(long, 'a.pptx', { maxPages: 3 })).toMatch(/^too_large: .*4 slides.*MAX_DOCUMENT_PAGES: 3/);
  const wronglyNamed = await readFile(bytes, 'a.xlsx');
  expect([wronglyNamed.text, wronglyNamed.format, wronglyNamed.metadata['named_as']]).toEqual([
    '# Slide 1\n\nWords',
    'PPTX',
    'XLSX',
  ]);
});
