import { routingSchema } from '../../config/routing.ts';
import type { ReceivedObjects } from '../core/files/received-objects.ts';
import {
  completeNow,
  dryRun,
  holdStudy,
  releaseStudy,
  rerunStudy,
} from '../core/studies/commands.ts';
import { explainStudy } from '../core/studies/explain.ts';
import { keptInWords, type RetentionParts, removeOldStudies } from '../core/studies/retention.ts';
import { requireKnownAttributes } from '../core/studies/rules/attribute-values.ts';
import type { RulesSource } from '../core/studies/rules/rules-source.ts';
import type { Database } from '../platform/database/port.ts';
import type { RetentionOperations, RuleOperations, StudyOperations } from './operations.ts';

interface StudyParts {
  database: Database;
  objects: ReceivedObjects;
  rules: RulesSource;
}

export function createStudyOperations({ database, objects, rules }: StudyParts): StudyOperations {
  const now = () => ({ routing: rules.current(), at: new Date() });
  return {
    explain: (study) => explainStudy(database, study, { ...now(), objects }),
    complete: (study) => completeNow(database, study, new Date()),
    hold: (study, reason) => holdStudy(database, study, reason),
    release: (study, rule) => releaseStudy(database, study, rule, now()),
    rerun: (study) => rerunStudy(database, study, new Date()),
  };
}

export function createRuleOperations({ database, objects, rules }: StudyParts): RuleOperations {
  return {
    current: () => rules.current(),
    check: (routing) => requireKnownAttributes(routingSchema.parse(routing)),
    dryRun: (routing, last) =>
      dryRun(database, { routing: routing ?? rules.current(), at: new Date(), objects, last }),
  };
}

export function createRetentionOperations(parts: RetentionParts): RetentionOperations {
  return {
    async clean(isDryRun) {
      const { kept, ...removal } = await removeOldStudies(parts, isDryRun);
      return { ...removal, kept: keptInWords(kept) };
    },
  };
}
