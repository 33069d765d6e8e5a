import iconv from 'iconv-lite';
import { Fault } from '../../../contract/failures.js';
import { oneLine, type TextBuilder, tidyLines } from '../../textBuilder.js';
import { PAGE_FIELD } from '../../office/pageEdges.js';
import { ASIDES, type AsideKind, Asides } from './asides.js';
import { Blocks, type Paragraph, PLAIN } from './blocks.js';
import {
  CAPTURED,
  CHARACTERS,
  CHARSETS,
  INFO,
  NO_TEXT,
  OPTIONAL_TEXT,
  PARAGRAPH_ENDS,
  UNREAD,
} from './destinations.js';
import { dateOf } from './dateOf.js';

/** A token of rtf-stream-parser. Type 0: start of a group, 1: end of a group, 2: control word, 3: text. */
export interface RtfToken {
  readonly type: number;
  readonly word?: string;
  readonly param?: number;
  readonly data?: Buffer;
}

interface Group {
  /** Whether it contains no text of the document. */
  hidden: boolean;
  /** Whether its characters have the format "hidden". */
  isHiddenText: boolean;
  /** The control word or role that decides how the group's content is read; null for ordinary text. */
  about: string | null;
  charset: string | null;
  /** Number of fallback characters after a \u, for programs that do not support it. */
  fallback: number;
}

const DOCUMENT: Group = { hidden: false, isHiddenText: false, about: null, charset: null, fallback: 1 };

/** Converts the tokens of an RTF file to paragraphs, lists and tables. Groups are kept on a stack of limited depth. */
export class RtfReader {
  readonly metadata: Record<string, unknown> = {};
  created: string | null = null;
  /** Numbers of the parts that were not read, by kind. */
  readonly unread: Record<string, number> = {};
  readonly #writer: TextBuilder;
  readonly #blocks: Blocks;
  readonly #maxDepth: number;
  readonly #fonts = new Map<number, string>();
  #groups: Group[] = [{ ...DOCUMENT }];
  #bytes: Buffer[] = [];
  #codepage = 'windows-1252';
  #text = '';
  #info = '';
  #date: number[] = [];
  #font = 0;
  #skip = 0;
  #isOptional = false;
  #isAtStart = false; // Whether nothing of the open group was read yet.
  #paragraph: Paragraph = { ...PLAIN };
  readonly #headings = new Map<number, number>();
  #style = 0;
  readonly #asides = new Asides();
  /** While a note, comment, header or footer is read: its kind, and the state of the surrounding text. */
  #around: { kind: AsideKind; text: string; row: string[]; paragraph: Paragraph } | null = null;
  #hidesResult = false; // Whether the result of the open field is the number of a page.
  #inMark = false;
  #row: string[] = [];

  constructor(writer: TextBuilder, maxDepth: number) {
    this.#writer = writer;
    this.#blocks = new Blocks(writer);
    this.#maxDepth = maxDepth;
  }

  take(token: RtfToken): void {
    if (token.type === 0) this.#open();
    else if (token.type === 1) this.#close();
    else if (token.type === 2) this.#control(token.word ?? '', token.param, token.data);
    else this.#raw(token.data ?? Buffer.alloc(0));
  }

  finish(): void {
    if (this.#around) this.#endAside();
    this.#endParagraph();
    // The file ended inside a table.
    if (this.#text !== '') this.#row.push(oneLine(this.#text));
    this.#blocks.row(this.#row);
    this.#blocks.endTable();
    for (const block of this.#asides.blocks()) this.#writer.block(block);
  }

  get #group(): Group {
    return this.#groups.at(-1) ?? { ...DOCUMENT };
  }

  #open(): void {
    this.#decode();
    if (this.#groups.length > this.#maxDepth) {
      throw new Fault(
        'too_large',
        `The file has groups nested more than ${this.#maxDepth} deep (setting MAX_ELEMENT_DEPTH). Simplify it, or raise the setting.`,
      );
    }
    this.#groups.push({ ...this.#group });
    this.#isOptional = false;
    this.#isAtStart = true;
  }

  #close(): void {
    this.#decode();
    this.#isAtStart = false;
    const group = this.#groups.length > 1 ? this.#groups.pop() : undefined;
    const ends = (about: string): boolean => group?.about === about && this.#group.about !== about;
    if (ends('mark')) this.#inMark = false;
    if (ends('aside')) this.#endAside();
    if (ends('atnauthor')) this.#asides.author = oneLine(this.#info).slice(0, 1000);
    if (ends('fldinst') && PAGE_FIELD.test(this.#info)) [this.#asides.isNumbered, this.#hidesResult] = [true, true];
    if (ends('style')) this.#endStyle();
    const key = INFO.get(group?.about ?? '');
    if (key !== undefined && this.#group.about === 'info') {
      const value = oneLine(this.#info).slice(0, 1000);
      if (value !== '') this.metadata[key] = value;
    }
    if (group?.about === 'creatim' && this.#group.about === 'info') this.created = dateOf(this.#date);
    this.#skip = 0;
  }

  #control(word: string, param: number | undefined, data: Buffer | undefined): void {
    if (word === "'") {
      this.#raw(data ?? Buffer.alloc(0));
      return;
    }
    if (word === 'u') {
      this.#isAtStart = false;
      this.#decode();
      this.#emit(String.fromCharCode((param ?? 0) & 0xffff));
      this.#skip = this.#group.fallback;
      return;
    }
    this.#decode();
    if (word === '*') {
      // The mark applies to the group's destination only at the start of the group.
      this.#isOptional = this.#isAtStart;
      return;
    }
    const optional = this.#isOptional;
    this.#isOptional = false;
    this.#isAtStart = false;
    const group = this.#group;
    const isHidden = group.hidden || group.isHiddenText;
    if (!isHidden) this.#countUnread(word);
    const aside = isHidden ? undefined : ASIDES.get(word);
    if (aside) this.#beginAside(aside, group);
    else if (word === 'atnauthor' || (word === 'fldinst' && this.#isInEdge)) {
      [group.hidden, group.about] = [true, word];
      this.#info = '';
      this.#hidesResult = false;
    } else if (word === 'fldrslt' && this.#hidesResult) [group.hidden, this.#hidesResult] = [true, false];
    else if (NO_TEXT.has(word) || (optional && !OPTIONAL_TEXT.has(word))) group.hidden = true;
    else if (word === 'fonttbl' || word === 'info' || word === 'stylesheet') [group.hidden, group.about] = [true, word];
    else if (group.about === 'stylesheet' || group.about === 'style') this.#readStyle(word, param, group);
    else if (group.about === 'info' && (INFO.has(word) || word === 'creatim')) {
      group.about = word;
      this.#info = '';
      this.#date = [];
    } else if (group.about === 'creatim') this.#date.push(param ?? 0);
    else if (word === 'listtext' || word === 'pntext') {
      group.about = 'mark';
      this.#inMark = true;
      this.#paragraph.mark = '';
    } else this.#format(word, param, group);
  }

  #countUnread(word: string): void {
    const kind = UNREAD.get(word);
    if (kind !== undefined) this.unread[kind] = (this.unread[kind] ?? 0) + 1;
  }

  #format(word: string, param: number | undefined, group: Group): void {
    const character = CHARACTERS.get(word);
    if (character !== undefined) this.#emit(character);
    else if (PARAGRAPH_ENDS.has(word)) this.#endParagraph();
    else if (word === 'chpgn') this.#asides.isNumbered = this.#isInEdge;
    else if (word === 'pard') {
      // A list mark has its own formatting, which does not apply to its paragraph. Word writes the mark before \\pard.
      const mark = this.#text === '' ? this.#paragraph.mark : null;
      if (!this.#inMark) this.#paragraph = { ...PLAIN, mark };
    } else if (word === 'intbl' || word === 'trowd') this.#paragraph.inTable = true;
    else if (word === 'ilvl') this.#paragraph.level = Math.min(8, Math.max(0, param ?? 0));
    else if (word === 's') this.#paragraph.outline = this.#headings.get(param ?? 0) ?? this.#paragraph.outline;
    else if (word === 'cell' || word === 'nestcell') {
      // A table in a note or a header is part of its text.
      if (this.#around) this.#text += ' ';
      else {
        if (!group.hidden && !group.isHiddenText) this.#row.push(oneLine(this.#text));
        [this.#text, this.#paragraph.mark] = ['', null];
      }
    } else if (word === 'row' && this.#around) this.#endParagraph();
    else if (word === 'row') {
      this.#blocks.row(this.#row);
      this.#row = [];
      this.#paragraph.inTable = false;
    } else if (word === 'outlinelevel') this.#paragraph.outline = param ?? 9;
    else if (word === 'uc') group.fallback = param ?? 1;
    else if (word === 'ansicpg' && param !== undefined && iconv.encodingExists(`cp${param}`))
      this.#codepage = `cp${param}`;
    else if (word === 'mac') this.#codepage = 'macroman';
    else if (word === 'pc') this.#codepage = 'cp437';
    else if (word === 'f' && param !== undefined) {
      this.#font = param;
      group.charset = this.#fonts.get(param) ?? null;
    } else if (word === 'fcharset' && group.about === 'fonttbl') {
      const charset = CHARSETS.get(param ?? 0);
      if (charset !== undefined) this.#fonts.set(this.#font, charset);
    } else if (word === 'v') group.isHiddenText = param !== 0;
  }

  /** Collects bytes and decodes them later: the two bytes of one letter are two control words. */
  #raw(data: Buffer): void {
    const skipped = Math.min(this.#skip, data.length);
    this.#skip -= skipped;
    const rest = data.subarray(skipped);
    this.#isOptional = false;
    this.#isAtStart = false;
    if (rest.length > 0) this.#bytes.push(rest);
  }

  #decode(): void {
    if (this.#bytes.length === 0) return;
    const bytes = this.#bytes.length === 1 ? this.#bytes[0] : Buffer.concat(this.#bytes);
    this.#bytes = [];
    this.#emit(iconv.decode(bytes ?? Buffer.alloc(0), this.#group.charset ?? this.#codepage));
  }

  #emit(text: string): void {
    const { about, hidden, isHiddenText } = this.#group;
    if (INFO.has(about ?? '') || CAPTURED.has(about ?? '')) this.#info += text;
    else if (this.#inMark) this.#paragraph.mark = (this.#paragraph.mark ?? '') + text;
    else if (!hidden && !isHiddenText) this.#text += text;
  }

  #readStyle(word: string, param: number | undefined, group: Group): void {
    if (group.about === 'stylesheet') [this.#style, this.#info, group.about] = [0, '', 'style'];
    if (word === 's') this.#style = param ?? 0;
  }

  /** AbiWord marks a heading only by the name of its style. */
  #endStyle(): void {
    const rank = /^heading ([1-6])\s*;?$/i.exec(oneLine(this.#info))?.[1];
    if (rank !== undefined) this.#headings.set(this.#style, Number(rank) - 1);
  }

  get #isInEdge(): boolean {
    return this.#around?.kind === 'Header' || this.#around?.kind === 'Footer';
  }

  #beginAside(kind: AsideKind, group: Group): void {
    // Hide an aside inside another one: otherwise a header, for example, would become part of a note's text.
    if (this.#around) group.hidden = true;
    else {
      group.about = 'aside';
      this.#asides.isNumbered = false;
      this.#around = { kind, text: this.#text, row: this.#row, paragraph: this.#paragraph };
      [this.#text, this.#row, this.#paragraph] = ['', [], { ...PLAIN }];
    }
  }

  /** Moves a note, comment, header or footer to the end of the document; the mark of a note stays in place. */
  #endAside(): void {
    this.#decode();
    if (!this.#around) return;
    const { kind, text, row, paragraph } = this.#around;
    const mark = this.#asides.end(kind, this.#text);
    this.#around = null;
    this.#text = mark === '' ? text : `${text.trimEnd()}${mark}`;
    [this.#row, this.#paragraph] = [row, paragraph];
  }

  #endParagraph(): void {
    this.#decode();
    // AbiWord writes the whole item in the place of its mark.
    if (this.#inMark) [this.#text, this.#paragraph.mark] = [this.#text + (this.#paragraph.mark ?? ''), '-'];
    const text = tidyLines(this.#text);
    const paragraph = { ...this.#paragraph };
    this.#paragraph.mark = null;
    if (this.#isInEdge) {
      this.#asides.endLine(this.#text);
      this.#text = '';
      return;
    }
    if (this.#row.length > 0 || paragraph.inTable || this.#around) {
      // A paragraph inside a cell, a note or a comment.
      this.#text = text === '' ? '' : `${text} `;
      return;
    }
    this.#text = '';
    if (text === '') return;
    this.#blocks.paragraph(text, paragraph);
  }
}
