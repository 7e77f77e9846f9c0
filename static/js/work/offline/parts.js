// What the labelling page needs to work without a connection. Loaded before its own script, and only where the project
// lets more than one item be ready.

import { createKeeping } from "./keeping.js";
import { createStatus } from "./status.js";

globalThis.assayOffline = { createKeeping, createStatus };
