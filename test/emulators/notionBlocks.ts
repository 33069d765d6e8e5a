/** Blocks and texts of the Notion emulator, with the fields that Notion always sends. */

export interface EmulatedBlock {
  readonly type: string;
  /** Text of the block's `rich_text`, which has a single run. */
  readonly text?: string;
  /** Further members of the block's body. The body is the member named after the type, for example `paragraph`. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly children?: readonly EmulatedBlock[];
}

/** Returns a text as a single run. */
export const textRun = (text: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'text',
  text: { content: text, link: null },
  annotations: { bold: false, italic: false, strikethrough: false, underline: false, code: false, color: 'default' },
  plain_text: text,
  href: null,
  ...more,
});

/** Returns an option of a status or select column. */
export const option = (name: string) => ({ id: name.toLowerCase(), name, color: 'default' });

/** Fields in the body of every block of a type, by type. */
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  bulleted_list_item: { color: 'default' },
  callout: { color: 'default', icon: null },
  code: { caption: [], language: 'plain text' },
  heading_1: { color: 'default', is_toggleable: false },
  heading_2: { color: 'default', is_toggleable: false },
  heading_3: { color: 'default', is_toggleable: false },
  numbered_list_item: { color: 'default' },
  paragraph: { color: 'default', icon: null },
  quote: { color: 'default' },
  to_do: { checked: false, color: 'default' },
  toggle: { color: 'default' },
  unsupported: { block_type: 'button' },
};

/** Returns the member of a block that has the name of its type. */
export const bodyOf = ({ type, text, body = {} }: EmulatedBlock) => ({
  ...DEFAULTS[type],
  ...(text === undefined ? {} : { rich_text: [textRun(text)] }),
  ...body,
});
