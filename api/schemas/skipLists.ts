import { compile } from 'css-select';
import Joi from 'joi';

/** Limits of lists that are stored with every page and applied to it. */
const MAX_ENTRIES = 100;
const MAX_CHARACTERS = 500;
/**
 * Maximum number of characters in all different selectors of a request. The most expensive ones take 6 µs per character
 * to compile, which blocks the event loop.
 */
const MAX_SELECTOR_CHARACTERS = 5_000;

/**
 * The selectors of each request that is being validated. The key is the whole body, because the limit applies to all
 * lists of a request together: a request with several scrapes has a list for each.
 */
const seenSelectors = new WeakMap<object, { readonly valid: Set<string>; characters: number }>();

/** Returns the schema of tags or classes of elements that the page reader skips. */
export const skipNames = () => Joi.array().items(Joi.string().allow('').max(MAX_CHARACTERS)).max(MAX_ENTRIES);

/**
 * Returns the schema of CSS selectors of elements to skip. Each must be valid for the engine that applies it. Blank
 * ones are ignored.
 */
export const skipSelectors = () =>
  Joi.array().items(Joi.string().allow('').max(MAX_CHARACTERS).custom(readable)).max(MAX_ENTRIES);

function readable(selector: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const root = (helpers.state.ancestors as readonly object[]).at(-1) ?? {};
  const seen = seenSelectors.get(root) ?? { valid: new Set<string>(), characters: 0 };
  seenSelectors.set(root, seen);
  const wasTooMany = seen.characters > MAX_SELECTOR_CHARACTERS;
  // Above the limit, further selectors are neither compiled nor reported: thousands of errors would block the event
  // loop too.
  if (selector.trim() === '' || seen.valid.has(selector) || wasTooMany) return selector;
  seen.characters += selector.length;
  if (seen.characters > MAX_SELECTOR_CHARACTERS)
    return helpers.message({
      custom: `The CSS selectors of a request may have ${MAX_SELECTOR_CHARACTERS} characters in total. Use fewer`,
    });
  try {
    compile(selector);
    seen.valid.add(selector);
    return selector;
  } catch {
    return helpers.message({ custom: 'Is not a valid CSS selector. Correct it, or omit it' });
  }
}
