import { fetusKey } from '../contract/fetus-name.ts';
import { fixedOffCutOffs } from '../measure/rounding.ts';
import { cartMeasurements } from '../result/cart-measurements.ts';
import { findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement } from '../result/envelope.ts';
import { TWIN_DISCORDANCE, twinDiscordance } from './charts/size-category.ts';
import { ifPlausible } from './machine-values.ts';
import { format } from './measurement.ts';
import type { ObstetricEvidence } from './section.ts';

/** The weights of two named fetuses, and how far they are apart in % of the larger. */
export interface TwinWeights {
  weights: readonly [Measurement, Measurement];
  discordance: number;
}

/**
 * Weights that the machine's reports name for two fetuses; null where they do not name just two, or
 * one of the two has none that can be.
 */
export function twinWeights({ study }: Pick<ObstetricEvidence, 'study'>): TwinWeights | null {
  const named = cartMeasurements(study.cart ?? [], 'biometry', ['efw'])
    .map(ifPlausible)
    .filter(({ fetus }) => fetus !== null);
  // A repeat that cannot be is no further fetus, and a third fetus without a weight is one.
  if (new Set(named.map(({ fetus }) => fetusKey(fetus))).size !== 2) return null;
  const [first, second] = named.filter(({ quality }) => quality === 'accepted');
  if (!first || !second) return null;
  const [smaller, larger] = [first.value, second.value].toSorted((one, other) => one - other);
  if (smaller === undefined || larger === undefined) return null;
  return { weights: [first, second], discordance: twinDiscordance(larger, smaller) };
}

const percentText = (discordance: number) =>
  `${fixedOffCutOffs(discordance, 1, Object.values(TWIN_DISCORDANCE))} %`;

/** The two weights and their discordance, with its formula. */
export function discordanceSentence({ weights, discordance }: TwinWeights): string {
  const named = weights.map(({ fetus, value }) => `fetus ${fetus} ${format('efw', value)}`);
  return `Weights by the report of the ultrasound machine: ${named.join(', ')}; discordance ${percentText(discordance)} (difference as a share of the larger weight).`;
}

/** A discordance that is told (obstetric reference 3.10); no criterion but it was looked at. */
export function discordanceFindings(twins: TwinWeights): Finding[] {
  const { weights, discordance } = twins;
  const { told, selective } = TWIN_DISCORDANCE;
  if (discordance < told) return [];
  const criterion =
    discordance < selective
      ? `${told} % or more (ISUOG).`
      : `${selective} % or more, a contributory criterion of selective fetal growth restriction (Delphi 2019); its other criteria were not assessed.`;
  return [
    {
      id: 'twin-discordance',
      section: 'growth',
      concept: findingConcept('size-for-gestational-age'),
      text: `Weights of the twins discordant by ${percentText(discordance)}: ${criterion}`,
      severity: 'abnormal',
      confidence: null,
      evidence: weights.map(({ id }) => id),
    },
  ];
}
