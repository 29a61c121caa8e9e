import { findingConcept } from '../../result/concepts.ts';
import type { Finding, Result } from '../../result/envelope.ts';
import {
  AFI_HIGH,
  AFI_LOW,
  DVP_HIGH,
  DVP_LOW,
  deepestPocketCategory,
  type FluidCategory,
} from '../charts/amniotic-fluid.ts';
import { acrossCutOff } from '../cut-off.ts';
import {
  deepest,
  type MeasuredPocket,
  MM_PER_CM,
  measureIndex,
  measurePocket,
} from '../fluid-pockets.ts';
import { format } from '../measurement.ts';
import { NARROWEST_POCKET_MM } from '../read/amniotic-fluid.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';

const ID = 'amniotic-fluid';
const VIEW = 'calibrated images of the deepest pocket or of the four quadrants';
const CATEGORY_TEXT: Readonly<Record<FluidCategory, string>> = {
  anhydramnios: 'anhydramnios',
  oligohydramnios: 'oligohydramnios',
  normal: 'normal amniotic fluid',
  'polyhydramnios-mild': 'mild polyhydramnios',
  'polyhydramnios-moderate': 'moderate polyhydramnios',
  'polyhydramnios-severe': 'severe polyhydramnios',
};

interface Judged {
  id: string;
  by: 'deepest-vertical-pocket' | 'amniotic-fluid-index';
  mm: number;
  category: FluidCategory;
}

/** Where the category by the deepest pocket changes, mm. */
const POCKET_CUT_OFFS = [DVP_LOW, ...Object.values(DVP_HIGH)].map((cm) => cm * MM_PER_CM);

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

function classification({ id, by, mm, category }: Judged): Result['classifications'][number] {
  const { low, isLow, high, scheme } = CUT_OFFS[by];
  const value = format(by, mm);
  const cm = mm / MM_PER_CM;
  return {
    id,
    section: ID,
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

function finding({ id, by, mm, category }: Judged): Finding[] {
  if (category === 'normal') return [];
  const low = category === 'oligohydramnios' || category === 'anhydramnios';
  const { low: cutOff, high } = CUT_OFFS[by];
  const words = CATEGORY_TEXT[category];
  const rule = low ? cutOff : `${high * MM_PER_CM} mm or more`;
  return [
    {
      id,
      section: ID,
      concept: findingConcept(low ? 'oligohydramnios' : 'polyhydramnios'),
      text: `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${format(by, mm)} (cut-off ${rule}), on the images supplied.`,
      severity: category === 'anhydramnios' ? 'critical' : 'abnormal',
      confidence: null,
      evidence: [by],
    },
  ];
}

function notAssessed(code: string, detail: string): SectionOutcome {
  return { status: 'not_assessed', reason: { code, detail, needs: [VIEW] }, summary: detail };
}

function inadequate(detail: string): SectionOutcome {
  return {
    status: 'inadequate',
    reason: { code: 'low_confidence', detail, needs: [VIEW] },
    summary: detail,
  };
}

function assess(pockets: readonly MeasuredPocket[], gaDays: number | undefined): SectionOutcome {
  const whole = deepest(pockets.filter(({ cut }) => !cut));
  const cut = deepest(pockets.filter((pocket) => pocket.cut));
  const deeper = cut !== null && cut.measurement.value > (whole?.measurement.value ?? 0);
  if (!whole) {
    return inadequate('The deepest pocket was not measured: every pocket runs out of the picture.');
  }
  const { measurement } = whole;
  const index = measureIndex(pockets, gaDays);
  const judged: Judged[] = [
    ...(deeper
      ? []
      : [
          {
            id: 'fluid-by-deepest-pocket',
            by: 'deepest-vertical-pocket' as const,
            mm: measurement.value,
            category: deepestPocketCategory(measurement.value / MM_PER_CM),
          },
        ]),
    ...(typeof index !== 'string' && index.category
      ? [
          {
            id: 'fluid-by-index',
            by: 'amniotic-fluid-index' as const,
            mm: index.value * MM_PER_CM,
            category: index.category,
          },
        ]
      : []),
  ];
  const undecided = deeper
    ? null
    : acrossCutOff(measurement.value, measurement.uncertainty, POCKET_CUT_OFFS);
  const missing = [
    ...(undecided ? [undecided] : []),
    ...(deeper
      ? [
          'A deeper pocket runs out of the picture, so the amount of fluid was not categorised by it.',
        ]
      : []),
    ...(typeof index === 'string' ? [index] : []),
    ...(typeof index !== 'string' && index.category === null
      ? ['Gestational age was not given, so the amniotic fluid index was not categorised.']
      : []),
  ];
  const values = [
    `Deepest vertical pocket ${format('deepest-vertical-pocket', measurement.value)}`,
    ...(typeof index === 'string'
      ? []
      : [`amniotic fluid index ${format('amniotic-fluid-index', index.value * MM_PER_CM)}`]),
  ].join(', ');
  const words = judged.map(({ category }) => CATEGORY_TEXT[category]);
  return {
    status: missing.length > 0 ? 'partial' : 'complete',
    reason:
      missing.length > 0
        ? { code: 'parts_missing', detail: missing.join(' '), needs: [VIEW] }
        : null,
    summary: [`${[values, ...new Set(words)].join(': ')}.`, ...missing].join(' '),
    data: {
      pockets: pockets.length,
      narrowest_pocket_mm: NARROWEST_POCKET_MM,
      cut_off_low_mm: DVP_LOW * MM_PER_CM,
      cut_off_high_mm: DVP_HIGH.mild * MM_PER_CM,
      colour_for_cord: 'not_assessed',
      limitation: SIMULATED_ONLY,
    },
    measurements: [
      measurement,
      ...(deeper ? [{ ...cut.measurement, id: 'deepest-vertical-pocket-2' }] : []),
      ...(typeof index === 'string' ? [] : index.measurements),
    ],
    classifications: judged.map(classification),
    findings: judged.flatMap(finding),
  };
}

function run({ views, options }: ObstetricEvidence): SectionOutcome {
  const view = views.amnioticFluid;
  if (view?.frames === null) {
    return notAssessed('no_model', 'No model of the uterus is permitted by the configuration.');
  }
  if (!view?.frames?.length) {
    return notAssessed(
      'view_missing',
      'Amniotic fluid was not measured: no image of a pocket was found.',
    );
  }
  if (!view.frames.some(({ calibrated }) => calibrated)) {
    return notAssessed(
      'no_calibration',
      'Amniotic fluid was not measured: no physical scale was available.',
    );
  }
  const pockets = view.frames.flatMap((reading) => measurePocket(reading, view.uncertainty) ?? []);
  if (pockets.length === 0) {
    return inadequate(
      `Amniotic fluid was not measured: no clear pocket at least ${NARROWEST_POCKET_MM} mm wide is on the images. Anhydramnios is not concluded from images that may miss the deepest pocket.`,
    );
  }
  return assess(pockets, options.dating?.ga_days);
}

/** Deepest vertical pocket and amniotic fluid index (obstetric reference 4). */
export const amnioticFluid: ObstetricSection = {
  id: ID,
  title: 'Amniotic fluid',
  needs: [VIEW],
  reads: ['amnioticFluid'],
  run,
};
