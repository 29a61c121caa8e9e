import type { Clip } from './study.ts';

/** What an operator or a preset wrote of an image. */
export type ViewNamed = Pick<Clip, 'viewName' | 'stageName'>;

/**
 * Words in lower case, one space apart. Carts part them by spaces, underscores, hyphens, slashes and
 * points (`AFI_Q4`, `trans-vaginal`, `Umb.A`): in a pattern a space stands for each of these.
 */
export const plainWords = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[\s_\-/.:,#]+/g, ' ')
    .trim();

/** The words of View Name and Stage Name; every pattern for them is matched against these. */
export const viewWords = ({ viewName, stageName }: ViewNamed): string =>
  plainWords(`${viewName ?? ''} ${stageName ?? ''}`);
