"""Other small games behind one contract, solved exactly."""
