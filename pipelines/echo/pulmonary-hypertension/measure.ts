import type { ConceptKey } from '../../concepts/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { fractionalChange } from '../formulas/chambers.ts';
import { pressureBehindJet, pressureGradient } from '../formulas/doppler.ts';
import { calculated, type Values, without, withValues } from '../shared/values.ts';
import { tricuspidGrade } from '../valves/guideline.ts';
import { atrialPressure, contradictsCava } from './guideline.ts';

export interface RightHeartPressures {
  /** What was calculated or withheld, each with its note. */
  own: readonly Measurement[];
  /** The given values and these, without any that was withheld. */
  values: Values;
  tricuspid: ReturnType<typeof tricuspidGrade> | null;
}

const CONTRADICTED =
  'a normal RA pressure contradicts a wide IVC that does not collapse (echo reference 19)';
const OF_CONTRADICTED = 'the RA pressure that it contains contradicts the IVC';
const TORRENTIAL =
  'in torrential TR the velocity of the jet underestimates the RV pressure (echo reference 11.6)';

/** What rests on the RA pressure and on the jet. */
const RESTING = ['rvsp', 'tapse-to-spap'] as const satisfies readonly ConceptKey[];

function withheld(measurement: Measurement, section: string, reason: string): Measurement {
  const note = [measurement.note, reason].filter(Boolean).join('; ');
  return { ...measurement, section, quality: 'inadequate', note };
}

/** What the machine says and cannot be right, marked so; nothing where there is no contradiction. */
function contradicted(values: Values, section: string): Measurement[] {
  const atrial = values.measurement('ra-pressure');
  const [diameter, collapse] = [values.number('ivc-diameter'), values.number('ivc-collapse')];
  if (!atrial || diameter === null || collapse === null) return [];
  if (!contradictsCava(atrial.value, diameter, collapse)) return [];
  const resting = RESTING.flatMap((key) => values.measurement(key) ?? []);
  return [
    withheld(atrial, section, CONTRADICTED),
    ...resting.map((one) => withheld(one, section, OF_CONTRADICTED)),
  ];
}

/**
 * Pressures of the right heart from TR and IVC (echo 12.2, 12.3). What the machine states
 * against its own IVC, and what a torrential jet cannot tell, is withheld with what rests on it.
 */
export function rightHeartPressures(given: Values, section: string): RightHeartPressures {
  const contracta = given.number('tr-vena-contracta');
  const tricuspid = contracta === null ? null : tricuspidGrade('venaContracta', contracta);
  const torrential = tricuspid === 'torrential (5+)';
  const collapse = calculated(given, 'ivc-collapse', {
    section,
    method: 'cava-collapse',
    from: ['ivc-diameter', 'ivc-least-diameter'],
    value: fractionalChange,
  });
  const withCollapse = withValues(given, [collapse]);
  const blocked = contradicted(withCollapse, section);
  const refused: ReadonlySet<ConceptKey> = new Set(
    blocked.length > 0 ? ['ra-pressure', ...RESTING] : [],
  );
  const sound = without(withCollapse, refused);
  const atrial = refused.has('ra-pressure')
    ? null
    : calculated(sound, 'ra-pressure', {
        section,
        method: 'cava-table',
        from: ['ivc-diameter', 'ivc-collapse'],
        value: (diameter = 0, collapsed = 0) => atrialPressure(diameter, collapsed),
        note: 'collapse taken as that with a sniff',
      });
  const withAtrial = withValues(sound, [atrial]);
  const systolic = calculated(withAtrial, 'rvsp', {
    section,
    method: 'jet-plus-atrial',
    from: ['tr-vmax', 'ra-pressure'],
    value: pressureBehindJet,
    note: 'equals the systolic PA pressure without RVOT or pulmonary stenosis',
  });
  const coupling = calculated(withValues(withAtrial, [systolic]), 'tapse-to-spap', {
    section,
    method: 'ratio-of-values',
    from: ['tapse', 'rvsp'],
    value: (excursion = 0, pressure = 1) => excursion / pressure,
  });
  const ofJet = [systolic, coupling].flatMap((one) => one ?? []);
  // Without an RA pressure the gradient is given, and none is assumed (echo 12.2).
  const gradient =
    systolic || torrential
      ? null
      : calculated(sound, 'tr-gradient', {
          section,
          method: 'jet-gradient',
          from: ['tr-vmax'],
          value: pressureGradient,
        });
  const own = [
    ...[collapse, atrial].flatMap((one) => one ?? []),
    ...(torrential ? ofJet.map((one) => withheld(one, section, TORRENTIAL)) : ofJet),
    ...(gradient ? [gradient] : []),
    ...blocked,
  ];
  const unsound = new Set<ConceptKey>([...refused, ...(torrential ? RESTING : [])]);
  return { own, values: withValues(without(given, unsound), own), tricuspid };
}
