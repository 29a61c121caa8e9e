import type { Config, DicomwebDestination, PacsDestination } from '../config/schema.ts';
import { type HttpAccess, stowTransport } from './dicomweb/stow-transport.ts';
import { AssociationPool } from './send/association-pool.ts';
import { cStoreTransport, type StoreTransport } from './send/store-scu.ts';

/** The destinations of a site that accept DICOM objects, and the transport to each. */
interface Pacs {
  destinations: readonly PacsDestination[];
  /** By name. */
  transports: ReadonlyMap<string, StoreTransport>;
  /** Destination → the alternate that takes over its deliveries. */
  alternates: ReadonlyMap<string, string>;
  /** Releases idle associations. */
  close(): Promise<void>;
}

/** @param access credentials for a DICOMweb server. */
export function connectPacs(
  { destinations, dicom }: Pick<Config, 'destinations' | 'dicom'>,
  access: (destination: DicomwebDestination) => HttpAccess,
): Pacs {
  const pools: AssociationPool[] = [];
  const transports = new Map<string, StoreTransport>();
  const alternates = new Map<string, string>();
  const pacs = destinations.filter((each) => each.type !== 'fhir');
  for (const destination of pacs) {
    if (destination.alternate !== undefined)
      alternates.set(destination.name, destination.alternate);
    if (destination.type === 'dicomweb') {
      transports.set(destination.name, stowTransport(destination, access(destination)));
      continue;
    }
    const pool = new AssociationPool(destination.associationIdleSeconds);
    pools.push(pool);
    transports.set(destination.name, cStoreTransport(destination, dicom.aeTitle, pool));
  }
  return {
    destinations: pacs,
    transports,
    alternates,
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}
