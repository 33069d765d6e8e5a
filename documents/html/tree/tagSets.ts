/** Tag names grouped by how the reader treats them. */

const names = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

export const VOID = names(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);

/** Elements that are skipped with all their content when the tree is built. */
export const DROPPED = names(
  'script style noscript template svg iframe canvas audio video applet noembed noframes area embed frame param source track wbr',
);

/**
 * Elements whose content is not text of the page. They stay in the tree, because they distinguish a form from a
 * wrapper.
 */
export const CONTROLS = names('select textarea datalist');

/** Elements that begin a new line. All others are inline. */
export const BLOCKS = names(
  'address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p plaintext pre search section summary table ' +
    'tbody td tfoot th thead tr ul xmp caption optgroup option',
);

export const HEADINGS = names('h1 h2 h3 h4 h5 h6');
export const LISTS = names('ul ol dl menu dir');
export const PREFORMATTED = names('pre listing xmp plaintext');
export const INLINE_CODE = names('code tt kbd samp');

/** Formatting elements. Closing one leaves the elements inside it open: `<b>one<p>two</b>three` keeps one paragraph. */
export const FORMATTING = names(
  'a abbr b big cite code del em font i ins kbd mark nobr s samp small span strike strong sub sup tt u var',
);
