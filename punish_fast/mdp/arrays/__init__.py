"""Arrays that users pass in: conversion, validation and policies."""
