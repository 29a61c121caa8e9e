import type { Clip } from './study.ts';

/** What an operator or a preset wrote about an image. */
export type ViewNamed = Pick<Clip, 'viewName' | 'stageName'>;

/**
 * Words in lower case, separated by one space. Carts separate them by spaces, underscores, hyphens,
 * slashes and points (`AFI_Q4`, `trans-vaginal`, `Umb.A`): a space in a pattern matches each of
 * these.
 */
export const plainWords = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[\s_\-/.:,#]+/g, ' ')
    .trim();

/** The words of View Name and Stage Name, against which every pattern is matched. */
export const viewWords = ({ viewName, stageName }: ViewNamed): string =>
  plainWords(`${viewName ?? ''} ${stageName ?? ''}`);
