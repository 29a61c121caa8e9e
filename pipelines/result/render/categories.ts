import type { CriterionOutcome, Result } from '../envelope.ts';
import { FLOW_TEXT } from './obstetric/doppler.ts';
import { SIZE_TEXT } from './obstetric/growth.ts';
import { PLANE_LABELS } from './obstetric/planes.ts';

type Categories = Readonly<Record<string, string>>;

/**
 * Text for categories whose key is not clear by itself. The outer key is the concept of their
 * classification. For any other category, the text is its key with spaces in place of hyphens.
 */
export const CATEGORIES: Readonly<Record<string, Categories>> = {
  'size-for-gestational-age': SIZE_TEXT,
  'fetal-growth-restriction': {
    'early-fgr': 'early fetal growth restriction',
    'late-fgr': 'late fetal growth restriction',
    'sga-not-fgr': 'small, criteria for growth restriction not met',
    'sga-doppler-needed': 'small, Doppler needed to assess growth restriction',
    none: 'none',
    'not-assessable': 'not assessable',
  },
  'end-diastolic-flow': FLOW_TEXT,
  'standard-plane': PLANE_LABELS,
  'fetal-anaemia-signal': {
    'no-signal': 'no sign of anaemia',
    mild: 'sign of mild anaemia',
    'moderate-to-severe': 'sign of moderate to severe anaemia',
    severe: 'sign of severe anaemia',
  },
  'fetal-doppler': {
    redf: 'reversed umbilical end-diastolic flow',
    aedf: 'absent umbilical end-diastolic flow',
    'dv-abnormal': 'abnormal ductus venosus flow',
    'abnormal-ua': 'umbilical artery PI above its range',
    redistribution: 'cerebral redistribution',
    'anaemia-flag': 'sign of fetal anaemia',
    normal: 'normal',
    'not-assessed': 'not assessed',
  },
  'amniotic-fluid-volume': {
    'polyhydramnios-mild': 'mild polyhydramnios',
    'polyhydramnios-moderate': 'moderate polyhydramnios',
    'polyhydramnios-severe': 'severe polyhydramnios',
  },
  'placental-location': {
    praevia: 'placenta praevia',
    'low-lying': 'low-lying placenta',
    normal: 'not low-lying',
  },
};

/**
 * Returns a category of a classification as text; `concept` is the key of the classification's
 * concept.
 */
export function categoryText(concept: string | null, value: string): string {
  return CATEGORIES[concept ?? '']?.[value] ?? value.replaceAll('-', ' ');
}

const OUTCOMES = {
  met: 'met',
  not_met: 'not met',
  not_available: 'not available',
  at_cut_off: 'at the cut-off',
} as const satisfies Record<CriterionOutcome, string>;

/**
 * Returns the value of a criterion and its outcome, such as "78 (not met)". Results of earlier
 * versions have no outcome; of these, only the value is given, which may be the outcome in words.
 */
export function criterionText({
  value,
  outcome,
}: Result['classifications'][number]['criteria'][number]): string {
  const words = outcome && OUTCOMES[outcome];
  return value === null || words === undefined ? (value ?? words ?? '') : `${value} (${words})`;
}
