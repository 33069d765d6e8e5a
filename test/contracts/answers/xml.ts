/**
 * Converts XML in the answers of providers to the values that shapes describe. An element with fields becomes an
 * object: its child elements are fields, and so are its attributes, with `@` before the name. Repeated elements are a
 * list.
 */
import { SaxesParser } from 'saxes';

import { anything, type Shape } from './shape.js';

interface Element {
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: { readonly name: string; readonly element: Element }[];
  text: string;
}
const emptyElement = (attributes: Readonly<Record<string, string>>): Element => ({
  attributes,
  children: [],
  text: '',
});

/** Returns an element whose only child is the root. @throws Error for invalid XML */
function parse(text: string): Element {
  const document = emptyElement({});
  const openElements = [document];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const element = emptyElement({ ...attributes });
    openElements.at(-1)?.children.push({ name, element });
    openElements.push(element);
  });
  parser.on('closetag', () => void openElements.pop());
  parser.on('text', (part) => {
    const element = openElements.at(-1);
    if (element) element.text += part;
  });
  parser.write(text).close();
  return document;
}

/**
 * Converts the text of an element to the type of the shape. Returns the text unchanged if it does not have this type.
 */
function scalarOf(type: Shape['type'], text: string): unknown {
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function valueOf(element: Element, given: Shape): unknown {
  const { attributes, children, text } = element;
  const hasFields = children.length > 0 || Object.keys(attributes).length > 0;
  const shape = given.either?.find(({ type }) => (type === 'object') === hasFields) ?? given;
  // White space between elements is not text.
  if (!hasFields && (shape.type !== 'object' || text.trim() !== '')) return scalarOf(shape.type, text);
  const shapeOf = (name: string): Shape =>
    (Object.hasOwn(shape.fields ?? {}, name) ? shape.fields?.[name] : shape.others) ?? anything;
  const value: Record<string, unknown> = Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [`@${name}`, scalarOf(shapeOf(`@${name}`).type, attribute)]),
  );
  for (const name of new Set(children.map((child) => child.name))) {
    const { type, items = anything } = shapeOf(name);
    const sameName = children.filter((child) => child.name === name);
    const values = sameName.map((child) => valueOf(child.element, type === 'array' ? items : shapeOf(name)));
    value[name] = type === 'array' || values.length > 1 ? values : values[0];
  }
  if (text.trim() !== '') value['#text'] = text;
  return value;
}

/**
 * Returns the value of a document, as an object whose only field is the root element.
 * @param shape shape of that object; it determines which texts are numbers and which elements are lists
 * @throws Error for invalid XML
 */
export const valueOfXml = (text: string, shape: Shape): unknown => valueOf(parse(text.replace(/^\uFEFF/, '')), shape);
