import {
  type Config,
  type DicomwebDestination,
  isPacs,
  type ObjectDestination,
} from '../config/schema.ts';
import type { ClientCertificates } from '../src/platform/tls/client-files.ts';
import { type HttpAccess, stowTransport } from './dicomweb/stow-transport.ts';
import type { StorageService } from './network/service-ports.ts';
import { AssociationPool } from './send/association-pool.ts';
import { localTransport } from './send/local-transport.ts';
import { cStoreTransport, type StoreTransport } from './send/store-scu.ts';

interface Pacs {
  destinations: readonly ObjectDestination[];
  /** The transports, by destination name. */
  transports: ReadonlyMap<string, StoreTransport>;
  /** Maps each destination name to its alternate, which receives diverted deliveries. */
  alternates: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

/**
 * Creates the transports to the configured PACS. No connection is opened yet.
 * @param access returns the credentials for a DICOMweb server.
 * @param storage our own intake, for destinations of type `local`.
 */
export function connectPacs(
  { destinations, dicom }: Pick<Config, 'destinations' | 'dicom'>,
  {
    access,
    storage,
    certificates,
  }: {
    access: (destination: DicomwebDestination) => HttpAccess;
    storage: StorageService | null;
    certificates: ClientCertificates;
  },
): Pacs {
  const pools: AssociationPool[] = [];
  const transports = new Map<string, StoreTransport>();
  const alternates = new Map<string, string>();
  for (const destination of destinations) {
    if (destination.type === 'local' && storage) {
      transports.set(destination.name, localTransport(storage, dicom.aeTitle));
    }
    if (!isPacs(destination)) continue;
    if (destination.alternate !== undefined)
      alternates.set(destination.name, destination.alternate);
    if (destination.type === 'dicomweb') {
      transports.set(destination.name, stowTransport(destination, access(destination)));
      continue;
    }
    const associations = new AssociationPool(destination.associationIdleSeconds);
    pools.push(associations);
    transports.set(
      destination.name,
      cStoreTransport(destination, dicom.aeTitle, { associations, certificates }),
    );
  }
  return {
    destinations: destinations.filter((each) => each.type !== 'fhir' && each.type !== 'hl7v2'),
    transports,
    alternates,
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}
