/** Value of `last` in a hidden event row, whose change may not have happened. Its module loads no database driver. */
export const INTENDED = -1;
