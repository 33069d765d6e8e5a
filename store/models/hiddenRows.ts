/**
 * Value of `last` in a hidden event row: its events are published only if the change that they report was written. This
 * file imports nothing, so importing it loads no database driver.
 */
export const INTENDED = -1;
