import type { Result } from '../result/envelope.ts';
import { weeksAndDays } from './charts/dates.ts';
import { LATE_FORM_WEEKS, restrictionForm } from './charts/growth-restriction.ts';
import { SIZE_CUTOFFS } from './charts/size-category.ts';
import {
  type Charted,
  type ChartedKey,
  chartedValue,
  formatCentile,
  valueWithCentile,
} from './growth-references.ts';
import { BASIS_TEXT, type DatingBasis } from './input.ts';

/**
 * What a small fetus needs, in the words of reference 3.9: the lists of what was and was not
 * available. Restriction is never excluded without Doppler, and no delivery timing is stated.
 */
export function smallFetus(
  charted: readonly Charted[],
  gaDays: number,
  basis: DatingBasis,
): { guidance: Result['guidance']; data: Record<string, unknown> } {
  const efw = chartedValue(charted, 'efw');
  const ac = chartedValue(charted, 'ac');
  const form = restrictionForm({
    gaWeeks: gaDays / 7,
    efwCentile: efw?.centile ?? null,
    acCentile: ac?.centile ?? null,
    uaPiCentile: null,
    utaPiCentile: null,
    cprCentile: null,
    endDiastolicFlow: null,
    centileFall: null,
  });
  const early = gaDays / 7 < LATE_FORM_WEEKS;
  const notAvailable = [
    'umbilical artery Doppler',
    early ? 'uterine artery Doppler' : 'cerebroplacental ratio',
    'growth since an earlier scan',
  ];
  const data = {
    definition: 'delphi-2016',
    form,
    criteria_met: [efw, ac].flatMap((entry) =>
      entry && entry.centile < SIZE_CUTOFFS.small
        ? [`${entry.measurement.label} centile ${formatCentile(entry.centile)}`]
        : [],
    ),
    criteria_not_available: notAvailable,
  };
  if (form === 'none' || form === 'not-assessable') return { guidance: [], data };
  const values = [efw, ac]
    .flatMap((entry) => entry ?? [])
    .map((entry) => valueWithCentile(entry, entry.measurement.concept.key as ChartedKey))
    .join(', ');
  const lead =
    form === 'sga-doppler-needed'
      ? 'Small for gestational age; umbilical artery (and after 32 weeks middle cerebral artery) Doppler is needed to separate constitutional smallness from growth restriction.'
      : `Meets the consensus definition of ${early ? 'early' : 'late'} fetal growth restriction (weight or abdominal circumference below the ${SIZE_CUTOFFS.severelySmall}rd centile).`;
  const text = [
    lead,
    `Dated by ${BASIS_TEXT[basis]}: ${weeksAndDays(gaDays)} weeks; ${values}.`,
    `Not assessed: ${[...notAvailable, 'amniotic fluid', 'anatomy'].join(', ')}.`,
    'Consider confirming the dating, detailed anatomy, amniotic fluid and serial Doppler per local protocol (ISUOG 2020, SMFM Consult Series 52).',
  ].join(' ');
  const source = 'Gordijn et al. 2016, UOG 48:333-339; Lees et al. 2020, UOG 56:298-312';
  return { guidance: [{ id: 'small-fetus', section: 'growth', text, source }], data };
}
