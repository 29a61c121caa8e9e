import type { SectionFailed } from '../../pipelines/run/sections.ts';

/** Fails the test if a section throws. By default, the study would continue without that section. */
export const failTest: SectionFailed = (section, cause) => {
  throw new Error(`section ${section} failed`, { cause });
};
