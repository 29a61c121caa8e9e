import { fetusesIn, multipleIn } from '../../contract/fetus-name.ts';
import type { CartMeasurement, Study } from '../../contract/study.ts';
import { viewWords } from '../../contract/view-words.ts';
import { keyOf, NUMBER_OF_FETUSES } from '../../input/cart-sr/vocabulary.ts';
import { fetusKey, fetusPlace } from '../../result/measured.ts';
import type { SeveralFetusesSource } from '../../result/render/obstetric/shared.ts';
import type { SweepReading } from './sweeps.ts';
import { readPresentation } from './sweeps.ts';

export interface FetusEvidence {
  study: Pick<Study, 'clips' | 'cart'>;
  views: {
    presentation?: { sweeps: readonly SweepReading[] } | null;
    spectra?: readonly { fetus: string | null }[] | null;
  };
}

const differ = (names: readonly string[]) => new Set(names.map(fetusKey)).size > 1;

/** Returns true if the name designates a second or later fetus. A fetus B implies a fetus A. */
const isFurther = (name: string) => (fetusPlace(name) ?? 1) > 1;

const COUNTS: ReadonlySet<string> = new Set(Object.values(NUMBER_OF_FETUSES).map(keyOf));

const countSeveral = (cart: readonly CartMeasurement[]) =>
  cart.some(({ concept, value }) => COUNTS.has(keyOf(concept)) && value > 1);

/**
 * Returns true if the machine's labels on the images indicate several fetuses. If all labels refer
 * to the same first fetus, it is the only one.
 */
function imagesNameSeveral({ study, views }: FetusEvidence): boolean {
  const words = study.clips.map(viewWords);
  const spectra = (views.spectra ?? []).flatMap(({ fetus }) => fetus ?? []);
  const names = [...words.flatMap(fetusesIn), ...spectra];
  const multiple = words.some((text) => multipleIn(text) !== null);
  return multiple || differ(names) || names.some(isFurther);
}

function sweepsShowSeveral({ views }: FetusEvidence): boolean {
  return (views.presentation?.sweeps ?? []).some(
    (sweep) => sweep.direction !== null && readPresentation(sweep).fetuses > 1,
  );
}

/** Returns the evidence that indicates several fetuses; null if nothing indicates several. */
export function severalFetuses(evidence: FetusEvidence): SeveralFetusesSource | null {
  const { cart = [] } = evidence.study;
  const reported = cart.flatMap(({ fetus }) => fetus ?? []);
  if (differ(reported)) return 'named-in-reports';
  if (reported.some(isFurther)) return 'further-named';
  if (countSeveral(cart)) return 'counted';
  if (imagesNameSeveral(evidence)) return 'named-on-images';
  return sweepsShowSeveral(evidence) ? 'seen-on-sweep' : null;
}

/**
 * Returns a function that gives each fetus one name. If the images call a fetus A, and the
 * machine's report calls it 1, both get the name on the images.
 */
export function oneNamePerFetus({ study, views }: FetusEvidence): (name: string) => string {
  const names = [
    ...study.clips.map(viewWords).flatMap(fetusesIn),
    ...(views.spectra ?? []).map(({ fetus }) => fetus),
    ...(study.cart ?? []).map(({ fetus }) => fetus),
  ].filter((name) => name !== null);
  const byKey = new Map(names.toReversed().map((name) => [fetusKey(name), name]));
  return (name) => byKey.get(fetusKey(name)) ?? name;
}
