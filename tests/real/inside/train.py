"""Runs in Windows' Python: trains xgboost on seeded data, and says what it predicts.

    train.py [WAIT]     WAIT: seconds to stay, so that others run at the same time
"""

import hashlib
import json
import sys
import time

import memory
import numpy
import xgboost

random = numpy.random.RandomState(20240101)
data = random.rand(2000, 20)
labels = (data[:, 0] + data[:, 1] * data[:, 2] + 0.1 * random.rand(2000) > 0.8).astype(int)
model = xgboost.train({"objective": "binary:logistic", "max_depth": 5, "seed": 7, "nthread": 1, "verbosity": 0},
                      xgboost.DMatrix(data, label=labels), num_boost_round=30)
predicted = model.predict(xgboost.DMatrix(data))
right = float(((predicted > 0.5) == labels).mean())
print("predicted", json.dumps([hashlib.sha256(predicted.tobytes()).hexdigest(), len(predicted), right]), flush=True)
if len(sys.argv) > 1:
    time.sleep(float(sys.argv[1]))
print("memory", json.dumps(memory.writable_image_memory()), flush=True)
