import type { PhantomView } from './view.ts';

/** Every view beside the planes of biometry. A new one is one file and one line here. */
export const VIEWS: readonly PhantomView[] = [];
