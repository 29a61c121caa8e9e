import { scaleFor } from '../../contract/study.ts';
import { distance } from '../../measure/ellipse.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isRejected, lineBetween, measuredOn } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { remarkOfCervix } from '../../result/render/obstetric/cervix.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import { createMeasurement, LONGEST_CERVIX_MM } from '../shared/measurement.ts';
import type { CervixReading } from './evidence.ts';
import {
  CURVED_MM,
  FUNNEL_MM,
  type FunnelShape,
  funnelShape,
  percentFunnelling,
} from './guideline.ts';

export interface MeasuredCervix {
  reading: CervixReading;
  length: Measurement;
  funnel: {
    measurements: Measurement[];
    shape: FunnelShape;
    /**
     * False if its depth needs review, or if a person rejected it or corrected it to less than 5 mm.
     * Nothing is then concluded.
     */
    used: boolean;
  } | null;
}

/**
 * Returns a funnel's depth and width in mm, its share of the canal as a percentage, and its shape.
 * Null without a scale, or without a funnel at least 5 mm deep.
 */
function funnelOf(reading: CervixReading, closed: Measurement): MeasuredCervix['funnel'] {
  const { clip, located } = reading;
  if (!located?.funnel) return null;
  const [first, second] = located.funnel.shoulders;
  const scale = scaleFor(clip, [first, second, located.internalOs])?.scale;
  if (!scale) return null;
  const mouth = { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 };
  const depth = distance(mouth, located.internalOs, scale);
  if (depth < FUNNEL_MM) return null;
  const given = {
    section: 'cervix',
    derivation: 'measured' as const,
    confidence: located.confidence,
  };
  const deep = createMeasurement('funnel-depth', depth, 'funnel-depth', {
    ...given,
    source: measuredOn(reading.clip, reading.frame.index, 'model', [
      lineBetween(mouth, located.internalOs),
    ]),
    remarks: [remark('method.simulated-only', {})],
  });
  const isFunnel = !isRejected(deep) && deep.value >= FUNNEL_MM;
  const measurements = [
    deep,
    createMeasurement('funnel-width', distance(first, second, scale), 'funnel-mouth', {
      ...given,
      source: measuredOn(reading.clip, reading.frame.index, 'model', [lineBetween(first, second)]),
      remarks: [remark('method.simulated-only', {})],
    }),
    ...(isFunnel
      ? [
          createMeasurement(
            'percent-funnelling',
            percentFunnelling(deep.value, closed.value),
            'percent-funnelling',
            { section: 'cervix', inputs: ['funnel-depth', closed.id] },
          ),
        ]
      : []),
  ];
  const used = isFunnel && deep.quality === 'accepted';
  return { measurements, shape: funnelShape(located.funnel.fullness), used };
}

/**
 * Measures the closed length in mm on one frame; null if no cervix was found or the scale is
 * unknown. A length from a transabdominal image is not accepted, because the measurement requires
 * a transvaginal one (obstetric 1.1).
 */
export function measureCervix(
  reading: CervixReading,
  uncertainty: number | null,
): MeasuredCervix | null {
  const { clip, located } = reading;
  if (!located) return null;
  const { externalOs, middle, internalOs } = located;
  const scale = scaleFor(clip, [externalOs, middle, internalOs])?.scale;
  if (!scale) return null;
  const chord = { x: (externalOs.x + internalOs.x) / 2, y: (externalOs.y + internalOs.y) / 2 };
  const curved = distance(chord, middle, scale) > CURVED_MM;
  const value = curved
    ? distance(externalOs, middle, scale) + distance(middle, internalOs, scale)
    : distance(externalOs, internalOs, scale);
  const plausible = isPlausible('cervical-length', value);
  const abdominal = reading.route === 'transabdominal';
  const remarks = [
    remark('method.simulated-only', {}),
    ...(abdominal ? [remarkOfCervix('cervix.on-transabdominal-image', {})] : []),
    ...(plausible ? [] : [remark('obstetric.implausible', {})]),
    ...(value > LONGEST_CERVIX_MM ? [remarkOfCervix('cervix.unusually-long', {})] : []),
  ];
  const length = createMeasurement(
    'cervical-length',
    value,
    curved ? 'cervix-two-lines' : 'cervix-straight',
    {
      section: 'cervix',
      derivation: 'measured',
      source: measuredOn(
        clip,
        reading.frame.index,
        'model',
        curved
          ? [lineBetween(externalOs, middle), lineBetween(middle, internalOs)]
          : [lineBetween(externalOs, internalOs)],
      ),
      confidence: located.confidence,
      uncertainty,
      quality: !plausible || abdominal ? 'inadequate' : located.accepted ? 'accepted' : 'low',
      remarks,
    },
  );
  return { reading, length, funnel: funnelOf(reading, length) };
}
