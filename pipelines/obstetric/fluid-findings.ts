import { findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement, Result } from '../result/envelope.ts';
import { AFI_HIGH, AFI_LOW, DVP_HIGH, DVP_LOW, MM_PER_CM } from './charts/amniotic-fluid.ts';
import { CATEGORY_TEXT, type Judged } from './fluid-judgement.ts';
import { format } from './measurement.ts';

export const FLUID_SECTION = 'amniotic-fluid';

const CUT_OFFS = {
  'deepest-vertical-pocket': {
    low: `below ${DVP_LOW * MM_PER_CM} mm`,
    isLow: (cm: number) => cm < DVP_LOW,
    high: DVP_HIGH.mild,
    scheme: 'deepest vertical pocket: AIUM 2018, ACOG PB 229; SMFM Consult 46 (2018)',
  },
  'amniotic-fluid-index': {
    low: `at most ${AFI_LOW * MM_PER_CM} mm`,
    isLow: (cm: number) => cm <= AFI_LOW,
    high: AFI_HIGH.mild,
    scheme: 'amniotic fluid index: AIUM 2018, ACOG PB 229; SMFM Consult 46 (2018)',
  },
} as const;

/** A category with the cut-offs that it was drawn by. */
export function fluidClassification({
  id,
  by,
  mm,
  category,
}: Judged): Result['classifications'][number] {
  const { low, isLow, high, scheme } = CUT_OFFS[by];
  const value = format(by, mm);
  const cm = mm / MM_PER_CM;
  return {
    id,
    section: FLUID_SECTION,
    concept: findingConcept('amniotic-fluid-volume'),
    name: 'Amniotic fluid volume',
    value: category,
    scheme,
    criteria: [
      { name: `oligohydramnios: ${low}`, value, met: isLow(cm) },
      {
        name: `polyhydramnios: ${high * MM_PER_CM} mm or more`,
        value,
        met: cm >= high,
      },
    ],
  };
}

/** Too little or too much fluid, with the cut-off and whose value it was. */
export function fluidFinding({ id, by, mm, category, ofMachine }: Judged): Finding[] {
  if (category === 'normal') return [];
  const low = category === 'oligohydramnios' || category === 'anhydramnios';
  const { low: cutOff, high } = CUT_OFFS[by];
  const words = CATEGORY_TEXT[category];
  const rule = low ? cutOff : `${high * MM_PER_CM} mm or more`;
  const whose = ofMachine ? 'by the ultrasound machine' : 'on the images supplied';
  return [
    {
      id,
      section: FLUID_SECTION,
      concept: findingConcept(low ? 'oligohydramnios' : 'polyhydramnios'),
      text: `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${format(by, mm)} (cut-off ${rule}), ${whose}.`,
      severity: category === 'anhydramnios' ? 'critical' : 'abnormal',
      confidence: null,
      evidence: [by],
    },
  ];
}

/** Values of the fluid that contradict each other: one of them may be abnormal, so it is told. */
export function contradictionFinding(
  sentences: readonly string[],
  values: readonly Measurement[],
): Finding[] {
  if (sentences.length === 0) return [];
  return [
    {
      id: 'fluid-contradiction',
      section: FLUID_SECTION,
      concept: findingConcept('repeatability'),
      text: `The amount of amniotic fluid was not categorised. ${sentences.join(' ')}`,
      severity: 'abnormal',
      confidence: null,
      evidence: values.map(({ id }) => id),
    },
  ];
}
