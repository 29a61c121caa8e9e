import type { CartMeasurement } from '../../contract/cart.ts';
import {
  fetusesIn,
  fetusKey,
  fetusPlace,
  multipleIn,
  ofFetusId,
} from '../../contract/fetus-name.ts';
import type { Study } from '../../contract/study.ts';
import { viewWords } from '../../contract/view-words.ts';
import { keyOf, NUMBER_OF_FETUSES } from '../../input/cart-sr/vocabulary.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import type { SweepReading } from './sweeps.ts';
import { readPresentation } from './sweeps.ts';

/** What may tell of several fetuses. */
export interface FetusEvidence {
  study: Pick<Study, 'clips' | 'cart'>;
  views: {
    presentation?: { sweeps: readonly SweepReading[] } | null;
    spectra?: readonly { fetus: string | null }[] | null;
  };
}

const differ = (names: readonly string[]) => new Set(names.map(fetusKey)).size > 1;

/** There is no fetus B without a fetus A. */
const isFurther = (name: string) => (fetusPlace(name) ?? 1) > 1;

const COUNTS: ReadonlySet<string> = new Set(Object.values(NUMBER_OF_FETUSES).map(keyOf));

const countSeveral = (cart: readonly CartMeasurement[]) =>
  cart.some(({ concept, value }) => COUNTS.has(keyOf(concept)) && value > 1);

/** By the words of the cart on the images; one name on all of them is that of the only fetus. */
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

const UNTOLD = 'and the images do not say which one they show';

/**
 * Which source tells of more than one fetus, as part of a sentence that says why images are not put
 * together; `null`: nothing tells of it.
 */
export function severalFetuses(evidence: FetusEvidence): string | null {
  const { cart = [] } = evidence.study;
  const reported = cart.flatMap(({ fetus }) => fetus ?? []);
  if (differ(reported)) {
    return `the reports of the ultrasound machine name several fetuses, ${UNTOLD}`;
  }
  if (reported.some(isFurther)) {
    return `the reports of the ultrasound machine name a fetus beside the first one, ${UNTOLD}`;
  }
  if (countSeveral(cart)) {
    return `the reports of the ultrasound machine count more than one fetus, ${UNTOLD}`;
  }
  if (imagesNameSeveral(evidence)) {
    return 'the names of the images tell of several fetuses, which must not be mixed';
  }
  return sweepsShowSeveral(evidence) ? `a sweep shows more than one fetus, ${UNTOLD}` : null;
}

interface Judged {
  measurements: Measurement[];
  findings: FindingDraft[];
  classifications: Result['classifications'];
}

/** A sentence about one of several fetuses. */
export const ofFetusText = (text: string, fetus: string) => `Fetus ${fetus}: ${text}`;

/**
 * Measurements, findings and classifications whose every id, name and sentence tells which of several
 * fetuses they are of (obstetric 0.5: every fetal section is keyed by fetus).
 */
export function keyedByFetus(judged: Judged, fetus: string): Judged {
  const idOf = (id: string) => ofFetusId(id, fetus);
  return {
    measurements: judged.measurements.map((one) => ({
      ...one,
      id: idOf(one.id),
      fetus,
      inputs: one.inputs.map(idOf),
    })),
    findings: judged.findings.map((one) => ({
      ...one,
      id: idOf(one.id),
      text: ofFetusText(one.text ?? '', fetus),
      evidence: one.evidence.map(idOf),
    })),
    classifications: judged.classifications.map((one) => ({
      ...one,
      id: idOf(one.id),
      name: `${one.name}, fetus ${fetus}`,
    })),
  };
}
